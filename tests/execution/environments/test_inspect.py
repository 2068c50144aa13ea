"""What importing shows of compiled modules: of the standard library's anywhere, of real packages from the index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.api.surface.extract.inspected import record_of
from pipeline.api.surface.parse.module_model import UNSEEN_SIGNATURE
from pipeline.core.settings import index_url
from pipeline.execution.environments.inspect import ask
from pipeline.execution.environments.inspect_store import (
    NOT_INSPECTED,
    inspect_modules,
    inspect_release,
)
from pipeline.execution.environments.resolution.interpreters import Interpreter, discover
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.environment import Environment, bare_environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.sandbox.supervise import Finished, Limits
from pipeline.lake.rows import ReleaseRow
from tests.index_server import Index

MAY = "2021-05-01T00:00:00Z"


def ends(*chosen: Interpreter) -> list[Interpreter]:
    """The oldest and the newest interpreter of this machine."""
    found = chosen or discover()
    return [found[0], found[-1]]


@pytest.mark.parametrize("interpreter", ends(), ids=lambda interpreter: interpreter.python)
def test_what_cannot_be_imported_is_opaque_and_says_why(interpreter: Interpreter, sandbox: Sandbox) -> None:
    environment: Environment = replace(
        bare_environment(), python_version=interpreter.python, python=interpreter.path, folders=(interpreter.prefix,)
    )
    found = inspect_modules(environment, ["math", "_json", "nowhere.core"], sandbox, environment_rules())
    assert found["math"]["members"]["gcd"]["kind"] == "function"
    assert found["math"]["members"]["inf"]["value"] == "inf"
    assert found["_json"]["members"]["make_scanner"]["kind"] == "class"
    assert found["nowhere.core"] == {NOT_INSPECTED: "nowhere.core: ModuleNotFoundError: No module named 'nowhere'"}


def test_a_release_is_inspected_once(
    index: Index, store_at: Callable[..., EnvironmentStore], release: Callable[..., ReleaseRow], tmp_path: Path
) -> None:
    index.add_wheel("lib", "1.0", {"lib.py": "import os\ndef f(a): pass\n"}, MAY)
    index.add_wheel("lib", "2.0", {"lib.py": "1 / 0\n"}, MAY)
    store, cache = store_at(tmp_path / "environments"), tmp_path / "cache"
    one = release(sha256="1" * 64)
    first = inspect_release(one, ["lib"], store, cache)
    assert first["lib"]["members"]["f"]["signature"] == [["a", "positional_or_keyword", False, None]]
    assert first["lib"]["members"]["os"]["target"] == "os"
    index.projects.clear()  # what is kept needs no index
    assert inspect_release(one, ["lib"], store, cache) == first


def test_without_an_environment_all_is_opaque_and_is_tried_again(
    index: Index, store_at: Callable[..., EnvironmentStore], release: Callable[..., ReleaseRow], tmp_path: Path
) -> None:
    index.add_wheel("lib", "1.0", {"lib.py": "1 / 0\n"}, MAY)
    store, cache = store_at(tmp_path / "environments", interpreters_tried=1), tmp_path / "cache"
    found = inspect_release(release(sha256="1" * 64), ["lib", "lib.core"], store, cache)
    assert list(found) == ["lib", "lib.core"]
    assert all(
        seen[NOT_INSPECTED].startswith("no environment: import_failed: ZeroDivisionError") for seen in found.values()
    )
    assert not list(cache.rglob("*.json"))


WRAPPERS = """
import functools, os, sys
def made_with(act):
    def handing(g):
        @functools.wraps(g)
        def wrapper(*args, **kwargs):
            act()
            return g(*args, **kwargs)
        return wrapper
    return handing
def turn():
    while True: pass
@made_with(lambda: os._exit(0))
def exits(a, b=1): pass
@made_with(turn)
def turns(a, b=1): pass
@made_with(lambda: print('{"index": 3}') or sys.stdout.flush())
def prints(a, b=1): pass
@made_with(lambda: None)
def plain(a, b=1): pass
"""


def test_a_wrapper_that_ends_or_holds_the_process_costs_no_more_than_what_it_accepts(
    index: Index,
    store_at: Callable[..., EnvironmentStore],
    request_for: Callable[..., EnvironmentRequest],
    sandbox: Sandbox,
    tmp_path: Path,
) -> None:
    index.add_wheel("lib", "1.0", {"lib.py": WRAPPERS}, MAY)
    store = store_at(tmp_path / "environments")
    environment = store.open(store.build(request_for()))
    names = [f"lib.{name}" for name in ("exits", "turns", "prints", "plain", "missing")]
    answers = ask(environment, names, "path", sandbox, Limits(time_s=3))
    assert [answers[name].outcome for name in names] == ["passed"] * 4 + ["api_missing"]
    descriptions = [answers[name].description or {} for name in names[:-1]]
    parameters = [["a", "positional_or_keyword", False, None], ["b", "positional_or_keyword", True, "1"]]
    assert [each["signature"] for each in descriptions] == [parameters] * 4
    assert [each["wrappers"] for each in descriptions] == [["lib"]] * 4
    assert "accepts" not in descriptions[0]
    assert "accepts" not in descriptions[1]
    assert descriptions[3]["accepts"] == parameters


@pytest.mark.parametrize(
    "line",
    [
        b'{"index": 0, "out{"index": 0}',
        b'{"index": 7, "outcome": "passed", "message": "", "observation": null}',
        b'{"index": 0, "outcome": "well", "message": "", "observation": null}',
        b'{"index": [], "outcome": "passed"}',
        b'{"index": 0, "added": {"accepts": []}}',
        b'{"trying": "0"}',
        b"[1]",
    ],
)
def test_a_line_of_the_library_itself_is_no_answer(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.execution.environments.inspect.secrets.token_hex", lambda _: "nonce")
    answer = b'{"index": 0, "message": "", "observation": {"kind": "function"}, "outcome": "passed"}'

    class Printing:
        def run(self, *_: Any, **__: Any) -> Finished:
            return Finished(
                0, b"\n".join([b'"started"', line, answer, b"nonce", b""]), b"", 0.1, 0, False, False, False
            )

    sandbox: Any = Printing()
    answers = ask(bare_environment(), ["lib.f"], "path", sandbox, Limits())
    assert (answers["lib.f"].outcome, answers["lib.f"].description) == ("passed", {"kind": "function"})


REAL: list[tuple[str, str, str, str, dict[str, list[str] | None]]] = [
    # library, version, day, module, and of some of its functions and classes the parameters, None where not told
    ("markupsafe", "1.1.1", "2019-02-24", "markupsafe._speedups", {"escape": ["s"], "soft_unicode": ["object"]}),
    ("markupsafe", "2.1.5", "2024-02-02", "markupsafe._speedups", {"escape": None}),
    (
        "msgspec",
        "0.18.6",
        "2024-01-21",
        "msgspec._core",
        {"convert": ["obj", "type", "strict"], "to_builtins": ["obj"]},
    ),
    (
        "numpy",
        "1.19.0",
        "2020-06-20",
        "numpy.random.mtrand",
        {"randint": ["low", "high", "size", "dtype"], "rand": None},
    ),
    ("orjson", "3.6.0", "2021-07-08", "orjson", {"loads": ["obj"]}),
    ("pyyaml", "6.0.1", "2023-07-18", "yaml._yaml", {"get_version": None}),
]


@pytest.fixture(scope="session")
def real_store(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> EnvironmentStore:
    root = tmp_path_factory.mktemp("environments")
    return EnvironmentStore(root, index_url=index_url(), rules=environment_rules(), workers=2, sandbox=sandbox)


@pytest.mark.slow
@pytest.mark.parametrize(("library", "version", "day", "module", "expected"), REAL, ids=lambda value: str(value)[:20])
def test_real_compiled_modules(
    library: str,
    version: str,
    day: str,
    module: str,
    expected: dict[str, list[str] | None],
    real_store: EnvironmentStore,
    tmp_path: Path,
) -> None:
    release: ReleaseRow = {"library": library, "version": version, "requires_python": None}
    release |= {"release_time": datetime.fromisoformat(day).replace(tzinfo=UTC), "sha256": f"{library} {version}"}
    release |= {"import_names": [module.split(".")[0]]}
    seen = inspect_release(release, [module], real_store, tmp_path)[module]
    record = record_of(module, f"{module.replace('.', '/')}.so", seen)
    for name, parameters in expected.items():
        definition = record.definitions[name]
        assert (UNSEEN_SIGNATURE in definition.labels) == (parameters is None), name
        assert [p["name"] for p in definition.called][: len(parameters or [])] == (parameters or [])
    assert all(definition.kind != "import" or definition.target for definition in record.definitions.values())
