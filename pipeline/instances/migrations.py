"""Migration instances: the same task in two versions of a library, both directions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from packaging.version import Version

from pipeline.instances.head import Made, head, tags_of, within_quota
from pipeline.instances.history import History
from pipeline.instances.pairs import Corpus, Pair, Side, changed_examples, connected_examples
from pipeline.instances.rules import MigrationRules
from pipeline.lake import Reject, Row, content_id
from pipeline.terms import Direction, MigrationBasis, VersionPattern

_BASES = list(MigrationBasis)


def make_migrations(
    snippets: Iterable[Row],
    usages: Mapping[str, Sequence[Row]],
    changes: Iterable[Row],
    lifecycles: Iterable[Row],
    history: History,
    rules: MigrationRules,
) -> Made:
    """Make the migration instances of a library; `usages` are keyed by snippet id.

    A candidate is a pair of snippets in one direction; a snippet or a change that finds no pair is one candidate.
    """
    made = Made()
    corpus = Corpus(snippets, usages, history)
    ranks: dict[str, tuple[int, float]] = {}
    for pair in (
        *connected_examples(corpus, changes, lifecycles, rules),
        *changed_examples(corpus, rules),
    ):
        for result in [pair] if isinstance(pair, Reject) else _both_directions(pair, history):
            made.add(result)
            if isinstance(pair, Pair) and not isinstance(result, Reject):
                rank = _basis_rank(pair), -pair.similarity
                ranks[result["id"]] = min(rank, ranks.get(result["id"], rank))
    made.rows, surplus = within_quota(
        made.rows,
        kind_of=lambda row: (row["path"], row["target_path"], row["version"], row["target_version"]),
        rank_of=lambda row: (*ranks[row["id"]], row["id"], _BASES.index(row["basis"])),
        limit=rules.max_per_paths_and_versions,
    )
    made.rejects += surplus
    return made


def _basis_rank(pair: Pair) -> int:
    return 1 if pair.basis is MigrationBasis.EXAMPLE_CHANGED else 0


def _both_directions(pair: Pair, history: History) -> Iterator[Row | Reject]:
    yield _instance(pair.old, pair.new, Direction.OLD_TO_NEW, pair.basis, history)
    yield _instance(pair.new, pair.old, Direction.NEW_TO_OLD, pair.basis, history)


def _instance(
    source: Side, target: Side, direction: Direction, basis: MigrationBasis, history: History
) -> Row | Reject:
    key = f"{source.snippet['id']} {target.snippet['id']} {source.path} {direction} {basis}"
    tags = tags_of(key, source.path, source.version, history)
    if isinstance(tags, Reject):
        return tags
    made_of = source.version, target.version, source.path, target.path, source.code, target.code
    return {
        "id": content_id("migration", source.snippet["library"], *made_of),
        **head(source.snippet, source.path, source.version, tags, history),
        "target_version": target.version,
        "target_release_time": history.releases[target.version]["release_time"],
        "target_snippet_id": target.snippet["id"],
        "target_path": target.path,
        "direction": direction,
        "pattern": version_pattern(source.version, target.version),
        "basis": basis,
        "source_code": source.code,
        "target_code": target.code,
        "source_name": source.path.rpartition(".")[2],
        "target_name": target.path.rpartition(".")[2],
    }


def version_pattern(version: str, target_version: str) -> VersionPattern:
    """Return which sides are major releases, X.0.0, in VersiCode's sense (2406.07411, appendix B)."""
    return {
        (True, True): VersionPattern.MAJOR_TO_MAJOR,
        (True, False): VersionPattern.MAJOR_TO_MINOR,
        (False, True): VersionPattern.MINOR_TO_MAJOR,
        (False, False): VersionPattern.MINOR_TO_MINOR,
    }[_is_major(version), _is_major(target_version)]


def _is_major(version: str) -> bool:
    return not any(Version(version).release[1:])
