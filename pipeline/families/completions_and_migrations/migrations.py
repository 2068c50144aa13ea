"""Migration instances: the same task in two versions of a library, both directions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Direction, MigrationBasis, VersionPattern
from pipeline.corpus.usages.text import parse_program
from pipeline.families.completions_and_migrations.head import Candidates, head, tags_of, within_quota
from pipeline.families.completions_and_migrations.history import History, is_major
from pipeline.families.completions_and_migrations.pairs import Corpus, Pair, Side, changed_examples, connected_examples
from pipeline.families.completions_and_migrations.required_names import required_names
from pipeline.families.completions_and_migrations.rules import MigrationRules
from pipeline.families.uninformative import uninformative
from pipeline.lake.guard import guarded
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ChangeRow, LifecycleRow, MigrationRow, RewriteRow, SnippetRow, UsageRow
from pipeline.lake.stage import Reject

_BASES = list(MigrationBasis)


def make_migrations(
    snippets: Iterable[SnippetRow],
    usages: Mapping[str, Sequence[UsageRow]],
    changes: Iterable[ChangeRow],
    lifecycles: Iterable[LifecycleRow],
    history: History,
    rules: MigrationRules,
    rewritten: Iterable[Pair | Reject] = (),
    max_rewritten: int = 0,
    paired: Iterable[Pair | Reject] = (),
) -> tuple[Candidates[MigrationRow], list[RewriteRow]]:
    """Make the migration instances of a library, and the rows of `rewrites` that they need.

    `usages` are keyed by snippet id; `rewritten` are pairs of which a codemod wrote one side. They have a quota of
    their own, `max_rewritten`, and give way to pairs of examples that are the same code. `paired` are the two forms of
    tests, of which runs show that they discriminate, and of functions of dependents. A candidate is a pair of snippets
    in one direction; a snippet or a change that finds no pair is one candidate.
    """
    candidates: Candidates[MigrationRow] = Candidates()
    changes = list(changes)
    corpus = Corpus(snippets, usages, changes, history)
    examples = (*connected_examples(corpus, changes, lifecycles, rules), *changed_examples(corpus, rules))
    pairs = [*paired, *examples, *rewritten]
    ranks: dict[str, tuple[int, bool, float]] = {}
    for pair in pairs:
        if isinstance(pair, Reject):
            candidates.add(pair)
            continue
        for result in guarded([pair], _candidate, lambda pair: both_directions(pair, history)):
            candidates.add(result)
            if not isinstance(result, Reject):
                ranks[result["id"]] = min(_rank(pair), ranks.get(result["id"], _rank(pair)))
    candidates.rows, surplus = within_quota(
        candidates.rows,
        kind_of=lambda row: (
            _is_rewritten(row),
            row["basis"] == MigrationBasis.DEPENDENT_CHANGED,
            *(row["path"], row["target_path"], row["version"], row["target_version"]),
        ),
        rank_of=lambda row: (*ranks[row["id"]], row["id"], _BASES.index(MigrationBasis(row["basis"]))),
        limit=lambda row: max_rewritten if _is_rewritten(row) else rules.max_per_paths_and_versions,
    )
    candidates.rejects += surplus
    return candidates, _rewrites(pairs, candidates.rows)


def _candidate(pair: Pair) -> str:
    return f"{pair.old.snippet['id']} {pair.new.snippet['id']} {pair.old.path} {pair.basis}"


def _rank(pair: Pair) -> tuple[int, bool, float]:
    """Say which pair is taken first: what runs showed, connected examples, changed ones, what a codemod made."""
    is_written = pair.old.rewrite is not None or pair.new.rewrite is not None
    of_codemod = is_written and pair.basis is not MigrationBasis.DEPENDENT_CHANGED
    of_basis = {MigrationBasis.TEST_CHANGED: -1, MigrationBasis.EXAMPLE_CHANGED: 1}
    kind = 2 if of_codemod else of_basis.get(pair.basis, 0)
    own = pair.old.snippet["path"] in (pair.old.path, pair.new.path)
    return kind, of_codemod and not own, -pair.similarity


def _is_rewritten(row: MigrationRow) -> bool:
    """Say whether a codemod wrote one side; where somebody wrote both, other packages are mocked at most."""
    is_written = bool(row["source_rewrite_id"] or row["target_rewrite_id"])
    return is_written and row["basis"] != MigrationBasis.DEPENDENT_CHANGED


def _rewrites(pairs: Iterable[Pair | Reject], instances: Iterable[MigrationRow]) -> list[RewriteRow]:
    needed = {row[side] for row in instances for side in ("source_rewrite_id", "target_rewrite_id")}
    sides = (side for pair in pairs if isinstance(pair, Pair) for side in (pair.old, pair.new))
    rows = {side.rewrite["id"]: side.rewrite for side in sides if side.rewrite and side.rewrite["id"] in needed}
    return [rows[key] for key in sorted(rows)]


def _private_attributes(code: str) -> set[str]:
    """Return the private attributes that a program reads and does not define."""
    tree = parse_program(code)
    nodes = list(ast.walk(tree)) if tree is not None else []
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    defined |= {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
    names = {node.attr for node in attributes} - defined
    return {name for name in names if name.startswith("_") and not name.endswith("__")}


def both_directions(pair: Pair, history: History) -> Iterator[MigrationRow | Reject]:
    """Yield the instance of a pair in each direction that says something, or why it can be none."""
    yield _instance(pair.old, pair.new, Direction.OLD_TO_NEW, pair, history)
    if not pair.upwards_only:
        yield _instance(pair.new, pair.old, Direction.NEW_TO_OLD, pair, history)


def _instance(source: Side, target: Side, direction: Direction, pair: Pair, history: History) -> MigrationRow | Reject:
    key = f"{source.snippet['id']} {target.snippet['id']} {source.path} {direction} {pair.basis}"
    is_about_change = pair.change_id is not None or bool(pair.old.rewrite or pair.new.rewrite)
    tags = tags_of(key, source.path, source.version, history, is_about_change=is_about_change)
    if isinstance(tags, Reject):
        return tags
    source_name, target_name = (side.path.rpartition(".")[2] for side in (source, target))
    if source_name != target_name and target_name in _aliases(source.code):
        return Reject(key, RejectReason.LEAKS_ANSWER, f"the source imports something as {target_name}")
    if visible := sorted(_variables(source.code) & _new_parameters(source, target)):
        detail = f"the source has variables called as new parameters: {', '.join(visible)}"
        return Reject(key, RejectReason.LEAKS_ANSWER, detail)
    if target_name.startswith("_") and not target_name.endswith("__"):
        return Reject(key, RejectReason.UNFIT_NAME, f"nobody can guess a private name: {target_name}")
    if private := sorted(_private_attributes(target.code) - _private_attributes(source.code)):
        return Reject(key, RejectReason.UNFIT_NAME, f"nobody can guess a private name: {', '.join(private)}")
    if why := uninformative(target.checks):
        return Reject(key, RejectReason.NO_CHECK, why)
    identity = source.version, target.version, source.path, target.path, source.code, target.code
    id_ = content_id("migration", source.snippet["library"], *identity)
    sides = sorted((side.version, side.code) for side in (source, target))
    common = head(id_, source.snippet, source.path, source.version, tags, history)
    return {
        **common,
        "pair_id": content_id("migration pair", source.snippet["library"], sides),
        "change_id": pair.change_id or _of_codemod(pair, common["change_id"]),
        "target_version": target.version,
        "target_release_time": history.releases[target.version]["release_time"],
        "target_snippet_id": target.snippet["id"],
        "source_rewrite_id": source.rewrite_id,
        "target_rewrite_id": target.rewrite_id,
        "target_path": target.path,
        "direction": direction,
        "pattern": version_pattern(source.version, target.version),
        "basis": pair.basis,
        "target_outputs": target.outputs,
        "source_code": source.code,
        "target_code": target.code,
        "source_name": source_name,
        "target_name": target_name,
    }


def _of_codemod(pair: Pair, of_source: str | None) -> str | None:
    """Return the change that a codemod follows; of several that of the API in the release of the source."""
    rewrite = pair.old.rewrite or pair.new.rewrite
    changes = rewrite["changes"] if rewrite else []
    return of_source if of_source in changes or not changes else changes[0]


def _aliases(code: str) -> frozenset[str]:
    """Return the names that a program gives to what it imports."""
    nodes = ast.walk(parse_python(code))
    return frozenset(node.asname for node in nodes if isinstance(node, ast.alias) and node.asname)


def _new_parameters(source: Side, target: Side) -> frozenset[str]:
    """Return the names of parameters that an answer has to know: those that take the place of others."""
    return required_names(source.code, target.code, target.path).parameters


def _variables(code: str) -> frozenset[str]:
    """Return the variables and parameters that a program defines."""
    tree = parse_program(code)
    nodes = list(ast.walk(tree)) if tree is not None else []
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return frozenset(stored | {node.arg for node in nodes if isinstance(node, ast.arg)})


def version_pattern(version: str, target_version: str) -> VersionPattern:
    """Return which sides are major releases, X.0.0, in VersiCode's sense (2406.07411, appendix B)."""
    return {
        (True, True): VersionPattern.MAJOR_TO_MAJOR,
        (True, False): VersionPattern.MAJOR_TO_MINOR,
        (False, True): VersionPattern.MINOR_TO_MAJOR,
        (False, False): VersionPattern.MINOR_TO_MINOR,
    }[is_major(version), is_major(target_version)]
