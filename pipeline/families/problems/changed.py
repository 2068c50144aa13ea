"""Changes that no example decides: what a problem could be about if somebody wrote one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.changes import LAST_TO_WORK, OF_PARAMETERS, RELOCATED, ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.families.completions_and_migrations.history import Tagging
from pipeline.families.problems.library import Library
from pipeline.lake.rows import ChangeRow, ProblemRow
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
    found: list[Changed] = []
    rejects: list[Reject] = []
    for result in (_changed(change, library, rules) for change in changes):
        if isinstance(result, Reject):
            rejects.append(result)
        else:
            found.append(result)
    kept, surplus = _within_quota(sorted(found, key=lambda one: _rank(one, library, rules)), rules)
    return kept, [*rejects, *surplus]


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
    told = {_letters(name) for name in (library.name, *library.roots(version))}
    if known := [name for name in hidden if _letters(name) in told]:
        detail = f"{path} in {version}: {known[0]!r} is what the library is called, which every solver is told"
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


def _rank(one: Changed, library: Library, rules: ProblemDraftRules) -> tuple[object, ...]:
    change = one.change
    kind = rules.kinds.index(change["kind"])
    newest_first = -library.history.rank(one.version)
    least = not one.documented, not change["breaking"], kind
    return (*least, newest_first, one.path, change["parameter"] or "", one.id)


def _within_quota(changed: Sequence[Changed], rules: ProblemDraftRules) -> tuple[list[Changed], list[Reject]]:
    taken: Counter[tuple[str, ...]] = Counter()
    kept: list[Changed] = []
    rejects: list[Reject] = []
    for one in changed:
        limits = {
            ("path", one.path): rules.max_per_path,
            ("version", one.version): rules.max_per_version,
            ("library",): rules.max_per_library,
        }
        full = next((kind for kind, limit in limits.items() if taken[kind] >= limit), None)
        if full is not None:
            detail = f"{one.path} in {one.version}: a model is asked for {limits[full]} of {' '.join(full)}"
            rejects.append(Reject(one.id, RejectReason.OVER_QUOTA, detail))
        else:
            taken.update(limits.keys())
            kept.append(one)
    return kept, rejects
