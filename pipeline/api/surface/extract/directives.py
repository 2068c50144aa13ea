"""Statements of versions in docstrings: which directive, of which version, about the API itself or a part of it.

Directives: Sphinx' `versionadded`, `versionchanged`, `deprecated`, `versionremoved` and their spellings with a hyphen
(sphinx-doc.org, "Describing changes between versions"), and CPython's `deprecated-removed`. Whose a directive is
follows from where it stands: numpydoc's style guide, the Google Python Style Guide 3.8, Sphinx' field lists.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from more_itertools import first
from packaging.version import InvalidVersion, Version

from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.core.vocabularies.changes import DirectiveKind, DirectiveOwner

_KINDS = {
    "versionadded": (DirectiveKind.VERSIONADDED,),
    "versionchanged": (DirectiveKind.VERSIONCHANGED,),
    "deprecated": (DirectiveKind.DEPRECATED,),
    "versiondeprecated": (DirectiveKind.DEPRECATED,),
    "versionremoved": (DirectiveKind.VERSIONREMOVED,),
    "deprecatedremoved": (DirectiveKind.DEPRECATED, DirectiveKind.VERSIONREMOVED),
}
# One colon makes it a comment for Sphinx, but the author states it all the same.
_DIRECTIVE = re.compile(
    r"\.\.\s*(?P<name>version-?(?:added|changed|removed|deprecated)|deprecated(?:-removed)?)\s*::?\s*(?P<rest>.*)"
)
_DIGIT = re.compile(r"\d")
_UNDERLINE = re.compile(r"\s*(-{3,}|={3,})\s*")
_GOOGLE = re.compile(r"([A-Z][\w ]*):")
_FIELD = re.compile(r":(?P<field>\w+)(?:\s+(?:[^:]*\s)?\\?\*{0,2}(?P<name>\w+))?:(?:\s.*)?")
_NAME = re.compile(r"(?:\\?\*){0,2}`{0,2}([A-Za-z_]\w*)`{0,2}(?:\s*\(.*\))?")

_OWNERS = {
    DirectiveOwner.PARAMETER: (
        *("parameters", "other parameters", "keyword parameters", "args", "arguments", "keyword arguments"),
        *("keyword args", "other arguments", "params", "param", "parameter", "keyword", "key", "kwarg", "arg"),
    ),
    DirectiveOwner.ATTRIBUTE: ("attributes", "ivar", "cvar", "var", "attr"),
    DirectiveOwner.PART: (
        *("returns", "return", "yields", "yield", "receives", "raises", "raise", "warns", "methods", "examples"),
        *("example", "references", "rtype"),
    ),
}
_OWNER_OF = {word: owner for owner, words in _OWNERS.items() for word in words}


@dataclass(frozen=True, slots=True)
class Directive:
    """A statement of a version; `version_text` as written, `name` that of the parameter or attribute it is about."""

    kind: DirectiveKind
    version_text: str | None
    text: str = ""
    owner: DirectiveOwner = DirectiveOwner.API
    name: str | None = None

    @property
    def version(self) -> Version | None:
        """The stated version by PEP 440, None where it is none ("next")."""
        return read_version(self.version_text)


def read_version(text: str | None) -> Version | None:
    """Return a version as it is written in a text (`1.2`, `v1.2`), None where it is none by PEP 440."""
    try:
        return Version(text) if text else None
    except InvalidVersion:
        return None


def read_directives(docstring: str, rules: DirectiveRules) -> list[Directive]:
    """Return what a docstring, its indentation removed, states of versions, in order; one for each name concerned.

    A statement deeper than the text it stands in (under one value of a parameter, say) is about a PART of it.
    """
    if not rules.worth_reading.search(docstring):
        return []
    lines = docstring.expandtabs().splitlines()
    directives: list[Directive] = []
    next_ = 0
    for number in range(len(lines)):
        if number < next_:
            continue
        statements, next_ = _directive(lines, number) or (_sentence(lines[number], rules), number + 1)
        if statements:
            owner, names = _owner(lines, number)
            directives += [Directive(*statement, owner, name) for name in names for statement in statements]
    return directives


def name_parameters(
    directives: Sequence[Directive], parameters: Collection[str], rules: DirectiveRules
) -> list[Directive]:
    """Return the directives; those of the API whose text says no more than that they mean a parameter are its own.

    attrs writes `.. versionadded:: 16.1.0 *retain_collection_types*`, click "Added the ``help`` parameter."
    """
    named = ((directive, rules.named_parameter.find(directive.text)) for directive in directives)
    return [
        replace(directive, owner=DirectiveOwner.PARAMETER, name=name)
        if directive.owner is DirectiveOwner.API and name in parameters
        else directive
        for directive, name in named
    ]


def demote_later_additions(directives: Sequence[Directive]) -> list[Directive]:
    """Return the directives; of several `versionadded` of one thing those after the oldest are about PARTs of it."""
    oldest: dict[tuple[DirectiveOwner, str | None], Version] = {}
    for directive in directives:
        key, version = (directive.owner, directive.name), directive.version
        if directive.kind is DirectiveKind.VERSIONADDED and version is not None:
            oldest[key] = min(version, oldest.get(key, version))

    def is_later(directive: Directive) -> bool:
        version = directive.version if directive.kind is DirectiveKind.VERSIONADDED else None
        return version is not None and version > oldest[directive.owner, directive.name]

    return [replace(d, owner=DirectiveOwner.PART, name=None) if is_later(d) else d for d in directives]


_Statement = tuple[DirectiveKind, str | None, str]


def _directive(lines: Sequence[str], number: int) -> tuple[list[_Statement], int] | None:
    """Return the directives of a line with their version and text, and the number of the line after their body."""
    match = _DIRECTIVE.fullmatch(lines[number].strip())
    if match is None:
        return None
    kinds = _KINDS[match["name"].replace("-", "")]
    end = _body_end(lines, number)
    words = " ".join([match["rest"], *lines[number + 1 : end]]).split()
    versions: list[str | None] = []
    for _ in kinds:
        # "version 1.2" and "scikit-learn 1.2" are written too
        at = next((at for at, word in enumerate(words[:2]) if read_version(_bare(word))), None)
        versions.append(None if at is None else _bare(words[at]))
        words = words if at is None else words[at + 1 :]
    text = " ".join(words)
    return [(kind, version, text) for kind, version in zip(kinds, versions, strict=True)], end


def _sentence(line: str, rules: DirectiveRules) -> list[_Statement]:
    """Return what a line such as `New in version 1.2: …` states."""
    text = line.strip()
    if not _DIGIT.search(text):
        return []
    for sentence in rules.sentences:
        if version := sentence.find(text):
            return [(sentence.directive, _bare(version), text)]
    return []


def _bare(word: str) -> str:
    return word.strip(".,:;()[]*`'\"|")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _body_end(lines: Sequence[str], number: int) -> int:
    """Return the number of the line after what is indented below a line."""
    margin, end = _indent(lines[number]), number + 1
    for following in range(number + 1, len(lines)):
        if lines[following].strip():
            if _indent(lines[following]) <= margin:
                break
            end = following + 1
    return end


_Owner = tuple[DirectiveOwner, Sequence[str | None]]


def _owner(lines: Sequence[str], number: int) -> _Owner:
    """Return whose the statement in a line is, and the names of the parameters or attributes."""
    above = _ancestors(lines, number)
    for depth, at in enumerate(above):
        text = lines[at].strip()
        if (field := _FIELD.fullmatch(text)) and (owner := _OWNER_OF.get(field["field"])):
            return _of_item(owner, [field["name"]] if field["name"] else [], depth)
        if (heading := _GOOGLE.fullmatch(text)) and (owner := _OWNER_OF.get(heading[1].lower())):
            margin = _indent(first(line for line in lines[at + 1 :] if line.strip()))
            return _in_section(lines, number, at, margin, owner)
    at = next((at for at in range(number - 2, -1, -1) if _is_underlined(lines, at)), -1)
    owner = _OWNER_OF.get(lines[at].strip().lower(), DirectiveOwner.API) if at >= 0 else DirectiveOwner.API
    return _in_section(lines, number, at, _indent(lines[at]) if at >= 0 else 0, owner)


def _ancestors(lines: Sequence[str], number: int) -> list[int]:
    """Return the numbers of the lines that a line is indented under, the nearest first."""
    above: list[int] = []
    limit = _indent(lines[number])
    for at in range(number - 1, -1, -1):
        if lines[at].strip() and _indent(lines[at]) < limit:
            limit = _indent(lines[at])
            above.append(at)
    return above


def _is_underlined(lines: Sequence[str], number: int) -> bool:
    line, following = lines[number], lines[number + 1]
    return bool(line.strip() and _UNDERLINE.fullmatch(following)) and _indent(line) == _indent(following)


def _in_section(lines: Sequence[str], number: int, heading: int, margin: int, owner: DirectiveOwner) -> _Owner:
    """Return whose a statement is in a section whose items, or whose text, stand at a margin."""
    depth = sum(_indent(lines[at]) > margin for at in _ancestors(lines, number))
    deeper = _indent(lines[number]) > margin
    if owner is DirectiveOwner.API:
        return (DirectiveOwner.PART if deeper else owner), [None]
    items = (lines[at].strip() for at in range(number - 1, heading, -1) if _indent(lines[at]) == margin)
    item = next((text for text in items if text and not text.startswith("..")), "")
    return _of_item(owner, _item_names(item), depth)


def _of_item(owner: DirectiveOwner, names: Sequence[str], depth: int) -> _Owner:
    """Return the owner of a statement in the text of an item; deeper than that text it is about a part of it."""
    whole = owner is not DirectiveOwner.PART and names and depth == 0
    return (owner, list(names)) if whole else (DirectiveOwner.PART, [None])


def _item_names(head: str) -> list[str]:
    """Return the names of an item: `x, y : int`, `*args`, `name (int): text`; none where it is no item."""
    names = [_NAME.fullmatch(part.strip()) for part in re.split(r"\s*:(?:\s|$)", head)[0].split(",")]
    return [name[1] for name in names if name] if all(names) else []
