"""The rewriting by which running a file tells where its names lead: nothing else about the program changes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import use_sites
from benchmarks.use_sites import rewritten
from benchmarks.uses_facts import Claim, Facts, judge

TRACER = Path(use_sites.__file__).with_name("use_tracer.py")
SOURCE = """
from __future__ import annotations
import json as j
from json import dumps, JSONDecoder as D

class A(D):
    size: int = 3
    def decode(self, s: j.JSONDecodeError):
        return super().decode(s)
    def __secret(self): return self.__class__
    def told(self): return self.__secret()

def f(x):
    match x:
        case j.JSONEncoder(): return [y.real for y in (1, 2)]
        case _: return f"{x!r:>{A.size}}"

print(dumps(A().decode("[1]")), f(1), f(j.JSONEncoder()), A().told().__name__, A().strict)
"""


def run(text: str, folder: Path, *variables: tuple[str, str]) -> str:
    file = folder / "program.py"
    file.write_text(text)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True, env=dict(variables))
    return done.stdout


def test_a_rewritten_program_does_the_same_and_records_its_names(tmp_path: Path) -> None:
    rewrite = rewritten(SOURCE.encode(), 0)
    assert rewrite
    assert all(SOURCE.encode()[: site.end].endswith(site.name.encode()) for site in rewrite.sites)
    (tmp_path / "sites.json").write_text(json.dumps([[site.name, site.imported] for site in rewrite.sites]))
    (tmp_path / "sitecustomize.py").write_bytes(TRACER.read_bytes())
    folder = str(tmp_path)
    variables = (("TRACE_FOLDER", folder), ("TRACE_ROOTS", "json"), ("PYTHONPATH", folder))
    assert run(rewrite.text, tmp_path, *variables) == run(SOURCE, tmp_path)
    (answer,) = tmp_path.glob("told-*.json")
    records_of = {rewrite.sites[number].name: records for number, records in json.loads(answer.read_text())}
    assert records_of["dumps"] == [["name", "json.dumps"], ["object", "json.dumps"]]
    assert records_of["D"] == [["name", "json.JSONDecoder"], ["object", "json.decoder.JSONDecoder"]]
    assert records_of["JSONEncoder"] == [["module", "json.JSONEncoder"]]
    assert records_of["strict"] == [["held", "json.decoder.JSONDecoder"]]
    assert records_of["size"] == records_of["real"] == records_of["f"] == []


@pytest.mark.parametrize("content", [b"x = (", b"\xff", b"x = 1\r\n", b"\xef\xbb\xbfx = 1", b"\0"])
def test_unreadable_sources_are_not_rewritten(content: bytes) -> None:
    assert rewritten(content, 0) is None


FACTS = Facts(
    "p",
    "f.py",
    "lib",
    "1",
    "",
    certain=frozenset({3, 10, 20}),
    of_object=frozenset({20}),
    paths={3: frozenset({"lib.A"}), 10: frozenset({"lib.A.b"}), 20: frozenset({"lib.c", "lib.d"}), 30: frozenset({"lib.e"})},
    ran=frozenset({3, 10, 20, 30, 40}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ([], {"certain": 3, "missed_of_object": 1}),
        ([(20, 20, "lib.d")], {"claimed": 1, "right": 1, "certain": 3, "found": 1}),
        ([(0, 10, "lib.A.b")], {"claimed": 1, "right": 1, "certain": 2, "found": 1, "missed_of_object": 1}),
        ([(20, 20, "lib.x"), (40, 40, "lib.c")], {"claimed": 2, "certain": 3, "missed_of_object": 1}),
        ([(30, 30, "lib.e")], {"claimed": 1, "right": 1, "certain": 3, "missed_of_object": 1}),
        ([(50, 50, "lib.e")], {"certain": 3, "missed_of_object": 1}),
    ],
)
def test_how_claims_are_counted(claims: list[tuple[int, int, str]], expected: dict[str, int]) -> None:
    counted = judge(FACTS, [Claim(start, end, frozenset({path})) for start, end, path in claims])
    assert {name: number for name, number in counted.items() if number} == expected
