"""Whether a path of one release is missing in another, or only unobservable there: a false removal is the worst error.

A path is unobservable in a file that does not parse, or if a star import from a module without source may bind it. So
is a member that the class may have from its `__getattr__`, from code that patches it, or from an outside base.
"""

from __future__ import annotations

from pipeline.api.history.index import Index, standard_members
from pipeline.api.history.rules import LifecycleRules
from pipeline.api.surface.parse.module_model import BY_METACLASS, UNSEEN_MEMBERS
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.lake.rows import SymbolState


def is_missing(path: str, here: Index, there: Index, rules: LifecycleRules) -> bool:
    """Return whether a path of one release is certainly missing in another, not just unobservable there."""
    if there.alive(path) or _of_metaclass(path, there) or unobservable(path, here, there, rules) is not None:
        return False
    return not _provided(path, here, there, rules)


def unobservable(path: str, here: Index, there: Index, rules: LifecycleRules) -> str | None:
    """Return why another release may have a path without our seeing it; None where nothing hides it."""
    if there.unknown(path):
        return "no source shows what is below it in the other release"
    if _unread(path, here, there):
        return "a file of the other release does not parse"
    if _patched_unobservably(path, there) or _newly_open(path, here, there, rules):
        return "its class gets members as it runs, or has a base that no source shows"
    if _from_unobservable_source(path, here, there):
        return "a star import or a `__getattr__` of the other release may bring it"
    return None


def _of_metaclass(path: str, there: Index) -> bool:
    """Return whether the class that a path stands in has the name from its metaclass."""
    class_ = there.find(path.rpartition(".")[0])
    return class_ is not None and BY_METACLASS + path.rpartition(".")[2] in class_["labels"]


def _patched_unobservably(path: str, there: Index) -> bool:
    """Return whether the class that a path stands in is given members whose names only running tells."""
    class_ = there.find(path.rpartition(".")[0])
    return class_ is not None and class_["kind"] == SymbolKind.CLASS and UNSEEN_MEMBERS in class_["labels"]


def _newly_open(path: str, here: Index, there: Index, rules: LifecycleRules) -> bool:
    """Return whether a class has a `__getattr__` or an untold base there only, or is given members there only.

    Its members may have moved into that.
    """
    if (there.dynamic(path) and not here.dynamic(path)) or there.givers(path) - here.givers(path):
        return True
    names = {base.rpartition(".")[2] for base in here.outside_bases(path)}
    bases = [base for base in there.outside_bases(path) if base.rpartition(".")[2] not in names]
    return any(standard_members(base, rules.known_bases) is None for base in bases)


def _unread(path: str, here: Index, there: Index) -> bool:
    """Return whether the definition, or a base of its class, stands in a file that does not parse there."""
    if not there.unparsed:
        return False
    row = here.find(path)
    places = [*([row["canonical_path"]] if row is not None else []), *there.outside_bases(path)]
    return any(there.in_unparsed(place) for place in places)


def _from_unobservable_source(path: str, here: Index, there: Index) -> bool:
    """Return whether a module may have the path, or what it is below, from where we do not see: a star import.

    A source that the other release has too hides nothing that was defined there, unless it does not parse.
    """
    module, _, _ = path.rpartition(".")
    name = path
    while module:
        if sources := there.unobservable_sources(module):
            hiding = sources - here.unobservable_sources(module) | {
                source for source in sources if there.in_unparsed(source)
            }
            if hiding and not there.alive(name) and not _is_module(here.rows.get(name)):
                return True
        name, module = module, module.rpartition(".")[0]
    return False


def _is_module(row: SymbolState | None) -> bool:
    """Return whether a row is a module in its own place: a star import brings no modules."""
    return row is not None and row["kind"] == SymbolKind.MODULE


def _provided(path: str, here: Index, there: Index, rules: LifecycleRules) -> bool:
    """Return whether a base of the standard library has the member all the same.

    A base that cannot be told there is taken for the one of its name here (urllib3 1.26 takes `HTTPConnection` from
    `six.moves.http_client`).
    """
    name = path.rpartition(".")[2]
    bases = {base.rpartition(".")[2]: standard_members(base, rules.known_bases) for base in here.outside_bases(path)}
    for base in there.outside_bases(path):
        members = standard_members(base, rules.known_bases)
        if members is None:
            members = bases.get(base.rpartition(".")[2])
        if members is not None and name in members:
            return True
    return False
