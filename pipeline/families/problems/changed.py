"""Changes that no example decides: what a problem could be about if somebody wrote one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.api.history.change_text import signature
from pipeline.core.vocabularies.changes import LAST_TO_WORK, OF_PARAMETERS, RELOCATED, ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.execution.validation.cases import MODULE
from pipeline.families.completions_and_migrations.history import Tagging
from pipeline.families.problems.library import Library
from pipeline.lake.rows import AnyRow, ChangeRow, ProblemRow, SnippetRow
from pipeline.lake.stage import Reject
from pipeline.llm.tasks.rules import ProblemDraftRules

_NO_CORE = frozenset({SymbolKind.MODULE, SymbolKind.EXTERNAL, SymbolKind.LAZY})


@dataclass(frozen=True, slots=True)
class Changed:
    """An API in a version that a change sets apart from another; `hidden` are the names that a solver has to find."""

    change: ChangeRow
    path: str
    version: str
    other_version: str
    tags: Tagging
    hidden: tuple[str, ...]
    documented: bool

    @property
    def id(self) -> str:
        """The change's id, which stands for it."""
        return str(self.change["id"])

    @property
    def name(self) -> str:
        """The name of the core API."""
        return self.path.rpartition(".")[2]

    @property
    def other_path(self) -> str:
        """The public path of the same API in the other version."""
        return str(self.change["path"]) if self.change["kind"] in RELOCATED else self.path


def undecided(
    changes: Iterable[ChangeRow], problems: Iterable[ProblemRow], kinds: Collection[ChangeKind] | None = None
) -> list[ChangeRow]:
    """Return the changes that no problem is about: of a category of GitChameleon's, and of some kinds (None: any)."""
    rows = list(problems)
    decided = {row["change_id"] for row in rows}
    places = {(row["path"], row["version"]) for row in rows}
    return [
        change
        for change in changes
        if change["gitchameleon_category"] is not None
        and (kinds is None or change["kind"] in kinds)
        and change["id"] not in decided
        and _place(change) not in places
    ]


def changed_apis(
    changes: Iterable[ChangeRow], library: Library, rules: ProblemDraftRules
) -> tuple[list[Changed], list[Reject]]:
    """Return the APIs of changes that a model is to be asked about, the most telling first, and why not the others.

    Rejects: NO_PREDECESSOR where the lake lacks one of the releases, UNRESOLVED_NAME where the version does not define
    the path, UNFIT_NAME where a name is too short to be hidden or is that of the library, OVER_QUOTA.
    """
    apis: list[Changed] = []
    rejects: list[Reject] = []
    for result in (_changed(change, library, rules) for change in changes):
        if isinstance(result, Reject):
            rejects.append(result)
        else:
            apis.append(result)
    chosen, surplus = _within_quota(sorted(apis, key=lambda changed: _rank(changed, library, rules)), rules)
    return chosen, [*rejects, *surplus]


def _place(change: ChangeRow) -> tuple[str, str]:
    """Return the path of the core API, and the version to be written for: the last one where what was right fails."""
    if change["kind"] in RELOCATED:
        return str(change["new"]), change["new_version"]
    return change["path"], change["old_version" if change["kind"] in LAST_TO_WORK else "new_version"]


def _changed(change: ChangeRow, library: Library, rules: ProblemDraftRules) -> Changed | Reject:
    (path, version), history = _place(change), library.history
    other = change["new_version"] if version == change["old_version"] else change["old_version"]
    if not {version, other} <= history.releases.keys():
        return Reject(change["id"], RejectReason.NO_PREDECESSOR, f"{path}: the lake lacks {version} or {other}")
    definition, tags = history.definition(path, version), history.tags(path, version)
    if definition is None or tags is None or definition["kind"] in _NO_CORE:
        return Reject(change["id"], RejectReason.UNRESOLVED_NAME, f"{path} is no API that {version} defines")
    hidden = tuple(dict.fromkeys(_hidden(change, path)))
    if unfit := [name for name in hidden if len(name.strip("_")) < rules.min_hidden or name.startswith("_")]:
        return Reject(change["id"], RejectReason.UNFIT_NAME, f"{path} in {version}: {unfit[0]!r}")
    public = {_letters(name) for name in (library.name, *library.roots(version))}
    if named := [name for name in hidden if _letters(name) in public]:
        detail = f"{path} in {version}: {named[0]!r} is what the library is called, which every solver is told"
        return Reject(change["id"], RejectReason.UNFIT_NAME, detail)
    documented = bool(library.docstrings([path], version) or library.document(path, version))
    return Changed(change, path, version, other, tags, hidden, documented)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _hidden(change: ChangeRow, path: str) -> Iterator[str]:
    yield path.rpartition(".")[2]
    if change["kind"] in RELOCATED:
        yield change["path"].rpartition(".")[2]
    if change["kind"] in OF_PARAMETERS and change["parameter"]:
        yield change["parameter"].lstrip("*")
    if change["kind"] == ChangeKind.PARAMETER_RENAMED and change["new"]:
        yield change["new"]


def _rank(changed: Changed, library: Library, rules: ProblemDraftRules) -> tuple[object, ...]:
    change = changed.change
    kind = rules.kinds.index(change["kind"])
    newest_first = -library.history.rank(changed.version)
    least = not changed.documented, not change["breaking"], kind
    return (*least, newest_first, changed.path, change["parameter"] or "", changed.id)


def _within_quota(changed: Sequence[Changed], rules: ProblemDraftRules) -> tuple[list[Changed], list[Reject]]:
    counts: Counter[tuple[str, ...]] = Counter()
    chosen: list[Changed] = []
    rejects: list[Reject] = []
    for one in changed:
        limits = {
            ("path", one.path): rules.max_per_path,
            ("version", one.version): rules.max_per_version,
            ("library",): rules.max_per_library,
        }
        full = next((kind for kind, limit in limits.items() if counts[kind] >= limit), None)
        if full is not None:
            detail = f"{one.path} in {one.version}: a model is asked for {limits[full]} of {' '.join(full)}"
            rejects.append(Reject(one.id, RejectReason.OVER_QUOTA, detail))
        else:
            counts.update(limits.keys())
            chosen.append(one)
    return chosen, rejects


_ONE_LINE = 10_000
_OWN = frozenset({SnippetSource.DOCSTRING, SnippetSource.DOCUMENTATION})


def change_context(
    changed: Changed, library: Library, snippets: Iterable[SnippetRow], function: str, rules: ProblemDraftRules
) -> dict[str, Any]:
    """Return what bears on a problem about a change, by field; all of it is crawled text but the names of fields."""
    rows, kind = list(snippets), ChangeKind(changed.change["kind"])
    change: AnyRow = changed.change
    return {
        "library": library.name,
        "import_names": list(library.history.releases[changed.version]["import_names"]),
        "version": changed.version,
        "other_version": changed.other_version,
        "path": changed.path,
        "change": {
            "kind": kind,
            "meaning": kind.meaning,
            **{name: change[name] for name in ("path", "parameter", "old", "new", "replacement")},
        },
        "here": _side(changed.path, changed.version, library, rows, rules),
        "there": _side(changed.other_path, changed.other_version, library, rows, rules),
        "hidden": list(changed.hidden),
        "function": function,
        "module": MODULE,
    }


def _side(
    path: str, version: str, library: Library, snippets: Sequence[SnippetRow], rules: ProblemDraftRules
) -> dict[str, object] | None:
    """Return what a release has of an API; None where it does not have it."""
    definition = library.history.definition(path, version)
    if definition is None:
        return None
    paths = list(dict.fromkeys([path, definition["path"]]))
    texts = library.docstrings(paths, version)
    document = next(filter(None, (library.document(path, version) for path in paths)), None)
    texts = texts or ((document["description"],) if document else ())
    examples = [
        f"{row['preamble']}{row['code']}"
        for row in sorted(snippets, key=lambda row: str(row["id"]))
        if row["path"] in paths
        and row["source"] in _OWN
        and library.history.within(version, row["version"], row["last_version"])
    ]
    return {
        "path": path,
        "signature": "".join(signature(definition, _ONE_LINE)),
        "documentation": [text[: rules.max_context_characters] for text in texts],
        "examples": [text[: rules.max_context_characters] for text in examples[: rules.max_examples]],
    }
