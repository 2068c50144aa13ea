"""environment.yml of Conda: its own match specifications, and the part that pip installs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import yaml

from pipeline.corpus.pins.requirement import specified
from pipeline.corpus.pins.requirements_txt import read_line
from pipeline.corpus.pins.statements import FileEntry, refused

_NAME = re.compile(r"(?:[\w./:-]+::?)?(?P<name>[\w.-]+)(?P<rest>(?:[\s=<>!~*\[].*)?)")
_INSIDE = re.compile(r"""\bversion\s*=\s*(?:'([^']*)'|"([^"]*)"|([^\s,\]]*))""")
_SPACES = re.compile(r"(?<=[<>=!~,|])\s+|\s+(?=[,|])")
_BUILT = re.compile(r"(?P<version>={0,2}[^=\s<>!~|,]+)[=\s]\s*(?P<build>[^=\s]+)")
_LONGEST = 1000


def read(file: str, text: str, group: str | None, names: Mapping[str, str]) -> Iterator[FileEntry]:
    """Yield what the `dependencies` of an environment state, those of pip too; other YAML says nothing.

    `names` are Conda's names of packages to those of the package index, where they differ.
    """
    try:
        document = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        yield refused(file, line, f"not YAML: {error.problem}"[:400])
        return
    except yaml.YAMLError as error:
        yield refused(file, 1, f"not YAML: {error}"[:400])
        return
    for item in _list(document, "dependencies"):
        line = item.start_mark.line + 1
        if isinstance(item, yaml.ScalarNode):
            yield match_spec(item.value, file, line, group, names)
        else:
            for requirement_node in _list(item, "pip"):
                if isinstance(requirement_node, yaml.ScalarNode):
                    yield from read_line(
                        file, requirement_node.start_mark.line + 1, requirement_node.value.strip(), group
                    )
                else:
                    yield refused(file, requirement_node.start_mark.line + 1, "no requirement of pip")


def _list(node: yaml.Node | None, key: str) -> list[yaml.Node]:
    """Return the items of a list below a key; none where there is no such list."""
    for name, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if name.value == key and isinstance(value, yaml.SequenceNode):
            return list(value.value)
    return []


def match_spec(text: str, file: str, line: int, group: str | None, names: Mapping[str, str]) -> FileEntry:
    """Read a package as Conda specifies it: `conda-forge::pandas=1.3`, `pandas 1.3.5 py38_0`, `pandas>=1,<2|3.*`."""
    match = _NAME.fullmatch(text.split(" #")[0].strip()) if len(text) <= _LONGEST else None
    if match is None:
        return refused(file, line, f"{text[:200]!r}: no match specification of Conda")
    version, _, brackets = match["rest"].partition("[")
    inside = _INSIDE.search(brackets)
    version = _SPACES.sub("", next(filter(None, inside.groups()), "") if inside else version.strip())
    built = _BUILT.fullmatch(version)
    name = match["name"].lower()
    specifier = pep440(built["version"] if built else version, built is not None)
    return specified(names.get(name, name), specifier, file, line, None, group)


def pep440(version: str, built: bool) -> str:
    """Return a version of Conda as a specifier; `=1.3` means 1.3 and what begins so, with a build that very release."""
    alternatives = [
        ",".join(_clause(part, built) for part in alternative.split(",") if part) for alternative in version.split("|")
    ]
    return " || ".join(alternatives)


def _clause(part: str, built: bool) -> str:
    part = part.strip()
    if part.strip("=*") == "":
        return ""
    if part.startswith(("==", "<", ">", "!", "~")):
        return part
    bare = part.lstrip("=").removesuffix("*").rstrip(".")
    begins = not built and (part.startswith("=") or "*" in part)
    return f"=={bare}.*" if begins else f"=={bare}"
