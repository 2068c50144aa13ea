"""Whatever stands in the files, reading them ends with statements and rejects; what is written is read again."""

from __future__ import annotations

import codecs
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.specifiers import SpecifierSet

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.pins.read import MAX_BYTES, is_pin_file, read_pins
from pipeline.corpus.pins.statements import StatementKind
from pipeline.corpus.pins.version import version_of
from tests.corpus.pins.test_formats import CASES

FILES = sorted({path.rsplit("/", 1)[-1] for path in CASES} | {"requirements/dev.txt", "x.egg-info/requires.txt"})
RELEASES: list[Any] = [{"version": "1.0", "release_time": datetime(2020, 1, 1, tzinfo=UTC), "requires_python": None}]
WHOLE = {path: text.encode() for path, (text, _) in CASES.items()}


def check(files: dict[str, bytes]) -> None:
    pins = read_pins(files)
    assert {item.file for item in pins.statements} <= set(files)
    for statement in pins.statements:
        assert 1 <= statement.line <= len(files[statement.file].split(b"\n")) + files[statement.file].count(b"\r")
        assert (statement.version is not None) == (statement.kind in (StatementKind.LOCK, StatementKind.EXACT_PIN))
        for alternative in statement.specifier.split("||"):
            SpecifierSet(alternative)
    for library in {item.library for item in pins.statements}:
        version_of(library, pins.statements, RELEASES, datetime(2021, 1, 1, tzinfo=UTC))
    for reject in pins.rejects:
        assert reject.key.rsplit(":", 1)[0] in files or reject.key in files
        assert reject.detail


@given(path=st.sampled_from(FILES), content=st.binary(max_size=300))
def test_bytes(path: str, content: bytes) -> None:
    check({path: content})


@given(path=st.sampled_from(FILES), text=st.text(max_size=300))
def test_text(path: str, text: str) -> None:
    check({path: text.encode("utf-8", "surrogatepass")})


@given(data=st.data(), path=st.sampled_from(sorted(CASES)))
def test_a_real_file_with_something_else_in_it(data: st.DataObject, path: str) -> None:
    text = CASES[path][0]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 40, len(text))))
    other = data.draw(st.text(max_size=20) | st.sampled_from([*"[]{}()=:'\"\\\n#*,;|\x00", "==", " @ "]))
    check({path: (text[:start] + other + text[end:]).encode("utf-8", "surrogatepass")})


NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,5})?", fullmatch=True).filter(lambda name: name != "python")
VERSIONS = st.lists(st.integers(0, 40), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
SPECIFIERS = st.lists(
    st.tuples(st.sampled_from(["==", ">=", "<", "!=", "~=", ">"]), VERSIONS), max_size=3, unique_by=lambda pair: pair[0]
).map(lambda pairs: ",".join(f"{sign}{version}{'.0' if sign == '~=' else ''}" for sign, version in pairs))
MARKERS = st.none() | st.sampled_from(['python_version < "3.8"', 'sys_platform == "win32" or os_name == "posix"'])
LINES = st.lists(st.tuples(NAMES, SPECIFIERS, MARKERS), max_size=6)


def written(name: str, specifier: str, marker: str | None) -> str:
    return f"{name}{specifier}" + (f"; {marker}" if marker else "")


@pytest.mark.parametrize(
    "path", ["requirements.txt", "pyproject.toml", "setup.py", "setup.cfg", "x.egg-info/requires.txt"]
)
@given(lines=LINES)
def test_written_requirements_are_read(path: str, lines: list[tuple[str, str, str | None]]) -> None:
    texts = [written(*line) for line in lines]
    listed = ",\n".join(repr(text) for text in texts)
    content = {
        "requirements.txt": "\n".join(texts),
        "x.egg-info/requires.txt": "\n".join(texts),
        "pyproject.toml": f"[project]\ndependencies = [\n{listed}\n]",
        "setup.py": f"setup(install_requires=[\n{listed}\n])",
        "setup.cfg": "[options]\ninstall_requires =\n" + "\n".join(f"  {text}" for text in texts),
    }[path]
    pins = read_pins({path: content.encode()})
    assert not pins.rejects
    result = {(statement.library, statement.specifier, statement.marker) for statement in pins.statements}
    assert result == {
        (name, str(SpecifierSet(bound)), str(Marker(mark)) if mark else None) for name, bound, mark in lines
    }


@given(lines=LINES)
def test_words_are_read_again(lines: list[tuple[str, str, str | None]]) -> None:
    statements = read_pins({"requirements.txt": "\n".join(written(*line) for line in lines).encode()}).statements
    again = "\n".join(statement.words.split(": ", 1)[1] for statement in statements)
    repeated = read_pins({"requirements.txt": again.encode()}).statements
    assert {
        (statement.library, statement.specifier, statement.version, statement.kind, statement.marker)
        for statement in statements
    } == {(item.library, item.specifier, item.version, item.kind, item.marker) for item in repeated}


ENCODED = {
    "utf-8": "# Grüße\npandas==1.3.5\n".encode(),
    "utf-8 with a mark": codecs.BOM_UTF8 + b"pandas==1.3.5\n",
    "utf-16 of PowerShell": "pandas==1.3.5\r\n".encode("utf-16"),
    "utf-16 without a mark": "pandas==1.3.5\r\n".encode("utf-16-le"),
    "big-endian": codecs.BOM_UTF16_BE + "pandas==1.3.5\n".encode("utf-16-be"),
    "utf-32": codecs.BOM_UTF32_LE + "pandas==1.3.5\n".encode("utf-32-le"),
    "as stated": "# -*- coding: koi8-r -*-\n# Привет\npandas==1.3.5\n".encode("koi8-r"),
    "Windows' Western": "# Grüße\npandas==1.3.5\n".encode("cp1252"),
    "an encoding that nobody knows": b"# coding: klingon\npandas==1.3.5\n",
    "no encoding of text": b"# coding: rot13\npandas==1.3.5\n",
    "old line ends": b"# x\rpandas==1.3.5\r",
}


@pytest.mark.parametrize("name", ENCODED)
def test_encodings(name: str) -> None:
    pins = read_pins({"requirements.txt": ENCODED[name]})
    assert [(statement.library, statement.version) for statement in pins.statements] == [("pandas", "1.3.5")]
    assert not pins.rejects


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x7fELF\x02\x01\x01\x00", RejectReason.UNREADABLE),
        (codecs.BOM_UTF8 + b"\xff", RejectReason.UNREADABLE),
        (b"#" * (MAX_BYTES + 1), RejectReason.TOO_LARGE),
    ],
)
def test_binary_is_a_reject(content: bytes, reason: RejectReason) -> None:
    (reject,) = read_pins({"requirements.txt": content}).rejects
    assert (reject.key, reject.reason) == ("requirements.txt", reason)


DEEP = 100_000


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("setup.py", "setup(install_requires=" + "[" * DEEP + "]" * DEEP + ")"),
        ("setup.py", "setup(install_requires=" + "+".join(["['a']"] * DEEP) + ")"),
        ("setup.py", "setup(install_requires=['%999999999s' % 'x', '{:999999999}'.format('x'), f'{1:999999999}'])"),
        ("pyproject.toml", "x = " + "[" * DEEP + "]" * DEEP),
        ("Pipfile.lock", "[" * DEEP + "]" * DEEP),
        ("environment.yml", "dependencies: " + "[" * 10_000 + "]" * 10_000),
        ("requirements.txt", "x; " + "(" * DEEP + "os_name == 'x'" + ")" * DEEP),
        ("requirements.txt", "x==" + "1" * DEEP),
        ("requirements.txt", "x" + " " * 10 * DEEP + "y"),
        ("requirements.txt", "x --" + "-a" * DEEP + "!"),
        ("setup.cfg", "[options]\nx" + " " * DEEP + "y"),
        ("environment.yml", "dependencies: ['x" + " " * DEEP + "y']"),
        ("setup.py", "setup(install_requires=[" + "f(x)," * 20_000 + "])"),
        ("poetry.lock", '[[package]]\nname = "x"\nversion = "' + "1" * DEEP + '"'),
    ],
)
def test_hostile_files_are_rejects(path: str, text: str) -> None:
    pins = read_pins({path: text.encode()})
    assert {reject.reason for reject in pins.rejects} == {RejectReason.BAD_REQUIREMENT}
    assert not pins.statements


def test_names_that_stand_for_each_other() -> None:
    many = [
        f"x{n} = " + " + ".join(f"x{m}" for m in range(30)) + f"\nt{n} = f'{{t{(n + 1) % 30}}}' * 9" for n in range(30)
    ]
    longer = [f"s{n + 1} = f'{{s{n}}}{{s{n}}}{{s{n}}}{{s{n}}}'" for n in range(60)]
    script = "\n".join(
        [*many, "s0 = 'a'", *longer, "d = dict(**d, x=d['x'])", "setup(install_requires=x0 + ['a', s60, t0], **d)"]
    )
    pins = read_pins({"setup.py": script.encode()})
    assert [statement.library for statement in pins.statements] == ["a"]
    assert {reject.reason for reject in pins.rejects} == {RejectReason.BAD_REQUIREMENT}


def test_files_that_take_in_each_other() -> None:
    files = {f"r{n}/requirements.txt": b"a\n" + b"-r ../r%d/requirements.txt\n" % ((n + 1) % 40) * 2 for n in range(40)}
    assert len(read_pins(files).statements) == 40


def test_which_files_are_read() -> None:
    for path in (*CASES, "docs/requirements.txt", "requirements/dev.txt", "constraints-3.8.txt", "pylock.dev.toml"):
        assert is_pin_file(path), path
    for path in ("README.md", "requirements.py", "x/setup.pyc", "environment.py", "data/reqs.csv"):
        assert not is_pin_file(path), path
