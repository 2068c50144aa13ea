from __future__ import annotations

import io
import multiprocessing
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.execution.environments.builds.build_rules import Constraint, build_rules
from pipeline.execution.environments.builds.wheel_store import NotTheWheel, WheelStore
from pipeline.execution.environments.resolution.pinned import Built, Pin
from pipeline.execution.environments.resolution.wheel_compatibility import fits
from pipeline.index.archives import ArchiveLimits
from pipeline.index.index import IndexFile
from tests.errors import raises
from tests.index_server import wheel, zip_bytes

DAY = datetime(2021, 6, 1, tzinfo=UTC)
PIN = Pin("lib", "1.0", ("0" * 64,), Built(DAY, ("cython<3",)))
PURE, LINUX = "lib-1.0-py3-none-any.whl", "lib-1.0-cp39-cp39-linux_x86_64.whl"
LIMITS = ArchiveLimits(1 << 24)


def content(name: str = "lib", version: str = "1.0", **more: str) -> bytes:
    return wheel(name, version, {f"{name}.py": "", **more})[1]


def bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lib.py", bytes(64 << 20))
    return buffer.getvalue()


def test_a_wheel_is_found_by_what_it_was_built_from(tmp_path: Path) -> None:
    shelf = WheelStore(tmp_path, LIMITS)
    assert shelf.find(PIN, "3.9", ()) is None
    with shelf.reserved(PIN, "3.9", ()):
        path = shelf.put(LINUX, content(), PIN, "3.9", ())
    assert path.read_bytes() == content()
    assert shelf.find(PIN, "3.9", ()) == path
    others = [Pin("lib", "1.0", ("1" * 64,), PIN.built), Pin("lib", "1.0", PIN.sha256s, Built(DAY, ()))]
    assert [shelf.find(pin, "3.9", ()) for pin in others] == [None, None]
    assert shelf.find(PIN, "3.10", ()) is None
    assert shelf.find(PIN, "3.9", ("numpy==1.19",)) is None


def test_what_is_not_compiled_serves_whatever_it_runs_with(tmp_path: Path) -> None:
    shelf = WheelStore(tmp_path, LIMITS)
    with shelf.reserved(PIN, "3.9", ("numpy==1.19",)):
        path = shelf.put(PURE, content(), PIN, "3.9", ("numpy==1.19",))
    assert shelf.find(PIN, "3.9", ("numpy==1.20",)) == path == shelf.find(PIN, "3.9", ())


def test_what_two_processes_built_beside_other_things_is_kept_once(tmp_path: Path) -> None:
    shelf = WheelStore(tmp_path, LIMITS)
    assert shelf.put(PURE, content(), PIN, "3.9", ("numpy==1.19",)) == shelf.put(
        PURE, content(), PIN, "3.9", ("numpy==1.20",)
    )
    with raises(OSError, "not empty"):
        shelf.put(LINUX, content(), PIN, "3.9", ())


@pytest.mark.parametrize(
    ("name", "inside", "code"),
    [
        ("other-1.0-py3-none-any.whl", content("other"), "wheel_of_other"),
        ("lib-2.0-py3-none-any.whl", content(version="2.0"), "wheel_of_other"),
        ("lib-1.0-cp38-cp38-linux_x86_64.whl", content(), "wheel_not_for_python"),
        ("lib-1.0-py3-none-win32.whl", content(), "wheel_not_for_python"),
        ("lib.whl", content(), "wheel_name_invalid"),
        ("../lib-1.0-py3-none-any.whl", content(), "wheel_name_invalid"),
        (PURE, b"", "wheel_unreadable"),
        (PURE, b"not a zip", "wheel_unreadable"),
        (PURE, content("other"), "wheel_metadata_differs"),
        (PURE, content(version="2.0"), "wheel_metadata_differs"),
        (PURE, zip_bytes({"lib.py": b""}), "wheel_metadata_differs"),
        (PURE, content(**{"numpy-9.dist-info/METADATA": "Name: numpy\nVersion: 9\n"}), "wheel_metadata_differs"),
        (PURE, content(**{"../../bin/python": ""}), "wheel_unreadable"),
        (PURE, content(**{"/etc/passwd": ""}), "wheel_unreadable"),
        (PURE, bomb(), "wheel_unreadable"),
    ],
)
def test_what_a_build_may_not_hand_out(tmp_path: Path, name: str, inside: bytes, code: str) -> None:
    shelf = WheelStore(tmp_path / "shelf", LIMITS)
    with shelf.reserved(PIN, "3.9", ()), raises(NotTheWheel, code=code):
        shelf.put(name, inside, PIN, "3.9", ())
    assert not list(tmp_path.rglob("*.whl"))


def put_one(root: str, start: object, answers: object) -> None:
    shelf = WheelStore(Path(root), LIMITS)
    start.wait()  # type: ignore[attr-defined]
    with shelf.reserved(PIN, "3.9", ()):
        found = shelf.find(PIN, "3.9", ())
        shelf.put(PURE, content(), PIN, "3.9", ()) if found is None else None
    answers.put(found is None)  # type: ignore[attr-defined]


def test_two_processes_build_it_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    start, answers = context.Barrier(3), context.Queue()
    processes = [context.Process(target=put_one, args=(str(tmp_path), start, answers)) for _ in range(3)]
    for process in processes:
        process.start()
    assert sorted(answers.get(timeout=30) for _ in processes) == [False, False, True]
    for process in processes:
        process.join()


@pytest.mark.parametrize(
    ("filename", "python", "fitting"),
    [
        ("numpy-1.17.3-cp37-cp37m-manylinux1_x86_64.whl", "3.7", True),
        ("numpy-1.17.3-cp37-cp37m-manylinux1_x86_64.whl", "3.8", False),
        ("numpy-1.21.0-cp39-cp39-manylinux_2_12_x86_64.manylinux2010_x86_64.whl", "3.9", True),
        ("cryptography-3.4-cp36-abi3-manylinux2014_x86_64.whl", "3.10", True),
        ("flask-1.0-py2.py3-none-any.whl", "3.13", True),
        ("numpy-1.17.3-cp37-cp37m-win_amd64.whl", "3.7", False),
        ("numpy-1.17.3-cp37-cp37m-manylinux1_i686.whl", "3.7", False),
        ("broken.whl", "3.7", False),
        ("nltk-3.5.zip", "3.7", False),
    ],
)
def test_which_files_need_no_building(filename: str, python: str, fitting: bool) -> None:
    kind = ArtifactKind.WHEEL if filename.endswith(".whl") else ArtifactKind.SDIST
    assert fits(IndexFile(filename, "", kind, "", 0, None, False, DAY), python) == fitting


@pytest.mark.parametrize(
    ("day", "python", "held"),
    [
        ("2014-05-01", "3.9", ("setuptools<46", "cython<3", "numpy<2")),
        ("2014-05-01", "3.11", ("setuptools<58", "cython<3", "numpy<2")),
        ("2021-10-01", "3.9", ("setuptools<60", "cython<3", "numpy<2")),
        ("2022-03-01", "3.9", ("cython<3", "numpy<2")),
        ("2014-05-01", "3.12", ("cython<3", "numpy<2")),
        ("2025-01-01", "3.9", ()),
    ],
)
def test_constraints_are_those_of_the_day(day: str, python: str, held: tuple[str, ...]) -> None:
    assert build_rules().constraints_of(datetime.fromisoformat(f"{day}T00:00:00+00:00"), python) == held


def test_of_two_constraints_on_one_distribution_the_first_holds() -> None:
    twice = tuple(Constraint(requirement=f"tool<{n}", before=DAY.date()) for n in (2, 1))
    rules = build_rules().model_copy(update={"constraints": twice})
    assert rules.constraints_of(datetime(2020, 1, 1, tzinfo=UTC), "3.9") == ("tool<2",)
