"""setup.cfg, as setuptools reads it, and the dependencies of tox environments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from configparser import ConfigParser, Error, InterpolationError, MissingSectionHeaderError, ParsingError
from posixpath import dirname, join, normpath

from pipeline.corpus.pins.requirement import requirement, specified
from pipeline.corpus.pins.requirements_txt import logical_lines, read_line
from pipeline.corpus.pins.statements import PYTHON, FileEntry, Include, refused
from pipeline.corpus.pins.text import Lines
from pipeline.lake.stage import Reject

_COMMENT = re.compile(r"(?:^|\s)#.*$")
_FACTORS = re.compile(r"[\w.!{},\s-]+:(?=\s|$|[A-Za-z0-9-])(?!//)")
_LONGEST = 10_000
_ROOT = re.compile(r"\{(?:toxinidir|tox_root)\}[/\\]?")


def read_setup(file: str, text: str) -> Iterator[FileEntry]:
    """Yield what `[options]` and `[options.extras_require]` of a setup.cfg state, and which files they take in."""
    parser = _parse(file, text)
    if isinstance(parser, Reject):
        yield parser
        return
    lines = Lines(text)
    python = _value(parser, "options", "python_requires").strip()
    if python:
        yield specified(PYTHON, python, file, lines.key("python_requires", lines.line("[options]")))
    for key in ("install_requires", "tests_require"):
        value = _value(parser, "options", key)
        group = None if key == "install_requires" else "tests"
        yield from _listed(file, value, lines, lines.key(key, lines.line("[options]")), group)
    extras = "options.extras_require"
    for key in parser.options(extras) if parser.has_section(extras) else ():
        start = lines.key(key, lines.line(f"[{extras}]"))
        yield from _listed(file, _value(parser, extras, key), lines, start, key)


def _parse(file: str, text: str) -> ConfigParser | Reject:
    longest = max(map(len, text.split("\n")))
    if longest > _LONGEST:
        return refused(file, 1, f"not INI: a line of {longest} characters")
    parser = ConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # extras keep their case
    try:
        parser.read_string(text, file)
    except MissingSectionHeaderError as error:
        return refused(file, error.lineno, "not INI: a line before the first section")
    except ParsingError as error:
        return refused(file, error.errors[0][0], f"not INI: {error.errors[0][1]}"[:400])
    except Error as error:
        return refused(file, 1, f"not INI: {error}"[:400])
    return parser


def _value(parser: ConfigParser, section: str, key: str) -> str:
    """Return a value, with `%(name)s` for another of its section, as setuptools has it; as it stands if that fails."""
    try:
        return parser.get(section, key, fallback="")
    except InterpolationError:
        return parser.get(section, key, fallback="", raw=True)


def _listed(file: str, value: str, lines: Lines, start: int, group: str | None) -> Iterator[FileEntry]:
    """Yield the requirements of a value: one on each line, or on one line with `;` between them, or `file:`."""
    value = value.strip()
    if value.startswith("file:"):
        for name in re.split(r"[,\n]", value.removeprefix("file:")):
            if name.strip():
                yield Include(normpath(join(dirname(file), name.strip())), file, start, group)
        return
    each = value.split("\n")
    for offset, bare in logical_lines(value):
        number = lines.line(each[offset - 1].strip(), start)
        whole = requirement(bare, file, number, group)
        if isinstance(whole, Reject) and ";" in bare and len(each) == 1:
            yield from (requirement(text, file, number, group) for text in bare.split(";") if text.strip())
        else:
            yield whole


def read_tox(file: str, text: str) -> Iterator[FileEntry]:
    """Yield the `deps` of every section of a tox.ini; environments and factors are groups."""
    parser = _parse(file, text)
    if isinstance(parser, Reject):
        yield parser
        return
    lines = Lines(text)
    for section in parser.sections():
        start = lines.key("deps", lines.line(f"[{section}]"))
        for line in parser.get(section, "deps", fallback="", raw=True).split("\n"):
            bare = _COMMENT.sub("", line).strip()
            if bare:
                yield from _dependency(file, lines.line(line.strip(), start), bare, section)


def _dependency(file: str, number: int, line: str, section: str) -> Iterator[FileEntry]:
    factors = _FACTORS.match(line)
    group = f"{section} {factors[0].strip(': ')}" if factors else section
    bare = _ROOT.sub("", line[factors.end() :] if factors else line).strip()
    if bare and "{" not in bare:  # what tox puts in place of braces is not known
        yield from read_line(file, number, bare, group)
