"""Whatever is done to a snapshot is found, named, and neither read outside of it nor answered with a traceback."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.lake.tables import read_parquet
from pipeline.snapshots.format.manifest import SnapshotError, read_manifest
from pipeline.snapshots.verify import verify
from tests.errors import raises
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.snapshots.lakes import demo_lake, demo_snapshot, edit_manifest, publish_lake, seal

Tamper = Callable[[Path], object]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    return demo_snapshot(folder)


@pytest.fixture
def snapshot(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "snapshot"))


def data(name: str) -> str:
    return f"data/{name}.parquet"


def flip(name: str, position: int = 200) -> Tamper:
    def tamper(snapshot: Path) -> None:
        path = snapshot / name
        content = bytearray(path.read_bytes())
        content[position % len(content)] ^= 0xFF
        path.write_bytes(content)

    return tamper


def rewrite(name: str, change: Callable[[list[dict[str, Any]]], object], sealed: bool = True) -> Tamper:
    """Change the rows of a table, keep its schema, and make the manifest's hashes fit."""

    def tamper(snapshot: Path) -> None:
        path = snapshot / data(name)
        schema = pq.ParquetFile(path).schema_arrow
        rows = pq.ParquetFile(path).read().to_pylist()
        change(rows)
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
        if sealed:
            seal(snapshot)

    return tamper


def put(name: str, column: str, value: object) -> Tamper:
    return rewrite(name, lambda rows: rows[0].update({column: value}))


def columns(name: str, change: Callable[[pa.Table], pa.Table]) -> Tamper:
    def tamper(snapshot: Path) -> None:
        pq.write_table(change(pq.ParquetFile(snapshot / data(name)).read()), snapshot / data(name))
        seal(snapshot)

    return tamper


def manifest(change: Callable[[dict[str, Any]], object]) -> Tamper:
    return lambda snapshot: edit_manifest(snapshot, change)


def entry(name: str, **values: object) -> Tamper:
    def change(content: dict[str, Any]) -> None:
        next(entry for entry in content["files"] if entry["path"] == name).update(values)

    return manifest(change)


def both(*tampers: Tamper) -> Tamper:
    def tamper(snapshot: Path) -> None:
        for each in tampers:
            each(snapshot)

    return tamper


def garble(name: str, sealed: bool) -> Tamper:
    def tamper(snapshot: Path) -> None:
        (snapshot / name).write_bytes(b"PAR1 nothing of the kind PAR1")
        if sealed:
            seal(snapshot)

    return tamper


def misname(name: str, column: bytes) -> Tamper:
    """Make a column's name in the footer something that is no text."""

    def tamper(snapshot: Path) -> None:
        content = (snapshot / name).read_bytes()
        (snapshot / name).write_bytes(content.replace(column, b"\xff" * len(column)))
        seal(snapshot)

    return tamper


def unlist(name: str) -> Tamper:
    def change(content: dict[str, Any]) -> None:
        content["files"] = [entry for entry in content["files"] if entry["path"] != name]

    return both(manifest(change), lambda snapshot: (snapshot / name).unlink())


def outside(path_of: Callable[[Path], str]) -> Tamper:
    """List a file that lies beside the snapshot, with its true hash."""

    def tamper(snapshot: Path) -> None:
        secret = snapshot.parent / "secret.parquet"
        shutil.copy(snapshot / data("changes"), secret)
        digest = hashlib.sha256(secret.read_bytes()).hexdigest()
        values = {"path": path_of(secret), "sha256": digest, "bytes": secret.stat().st_size}
        entry(data("changes"), **values)(snapshot)

    return tamper


def link(name: str) -> Tamper:
    """Put a link to the same content outside in the place of a file or folder."""

    def tamper(snapshot: Path) -> None:
        (snapshot / name).rename(snapshot.parent / "elsewhere")
        (snapshot / name).symlink_to(snapshot.parent / "elsewhere")

    return tamper


CASES: list[tuple[str, Tamper, str]] = [
    ("a byte of data", flip(data("completions")), r"data/completions\.parquet: sha256 is"),
    ("a byte of the footer", flip(data("symbols"), -20), r"data/symbols\.parquet: sha256 is"),
    ("a byte of the card", flip("README.md"), r"README\.md: sha256 is"),
    ("a file less", lambda s: (s / data("verdicts")).unlink(), r"data/verdicts\.parquet: listed .* missing"),
    ("a file more", lambda s: (s / "data/more.txt").write_text("x"), r"data/more\.txt: not listed"),
    ("a hidden file", lambda s: (s / ".more").write_text("x"), r"\.more: not listed"),
    ("an instance family less", unlist(data("migrations")), r"published_migrations: the table is missing"),
    ("a table less that others refer to", unlist(data("usages")), r"usage_id: cannot be checked, the table usages is"),
    ("no card", unlist("README.md"), r"README\.md: missing in the manifest"),
    ("other size", entry("README.md", bytes=3), r"README\.md: \d+ bytes, the manifest says 3"),
    ("other rows", entry(data("changes"), rows=7), r"changes\.parquet: 1 rows, the manifest says 7"),
    ("other tags", manifest(lambda m: m["tags"]["completions"].update(modified=9)), r"published_completions: by libev"),
    (
        "tags of a family less",
        manifest(lambda m: m["tags"].pop("migrations")),
        r"published_migrations: by libev.* None",
    ),
    ("other libraries", manifest(lambda m: m["libraries"].update(numpy=3)), r"releases: by library .*numpy"),
    ("listed twice", manifest(lambda m: m["files"].append(m["files"][3])), r"path listed 2 times"),
    ("unknown table", entry(data("changes"), table="drafts"), r"drafts is not a table of a snapshot"),
    ("table by a path", entry(data("changes"), table="../schemas/changes"), r"is not a table of a snapshot"),
    ("another's table", entry(data("changes"), table="releases"), r"releases: table listed 2 times"),
    ("dangling reference", put("completions", "usage_id", "0" * 32), r"usage_id: 1 rows refer to no row of usages\.id"),
    (
        "one side of a contradiction",
        rewrite("directives", lambda rows: [row.update(found_version=None) for row in rows]),
        r"directives: 1 contradictions without both the stated and the found version",
    ),
    (
        "a lock of another release",
        rewrite(
            "completions",
            lambda rows: rows[0].update(lock_id="lock-2.0" if rows[0]["version"] != "2.0" else "lock-1.1"),
        ),
        r"library, version, lock_id: 1 rows refer to no row of environments\.library, version, lock_id",
    ),
    (
        "a version that is no release",
        put("changes", "old_version", "0.1"),
        r"old_version: 1 rows refer to no row of rel",
    ),
    (
        "a use of other code",
        put("completions", "snippet_id", "0" * 32),
        r"usage_id, snippet_id: 1 rows refer to no row of usages\.id, snippet_id",
    ),
    (
        "an author whom nobody names",
        put("completions", "attribution", "somebody else"),
        r"ATTRIBUTION\.md: does not name pkg:pypi/lib@.*, MIT, somebody else",
    ),
    ("dangling lock", put("migrations", "target_lock_id", "none"), r"target_lock_id: 1 rows refer to no row of envir"),
    (
        "unknown value",
        put("verdicts", "outcome", "fine"),
        r"verdicts\.outcome: 1 values are not in the vocab.* Outcome",
    ),
    ("unknown value in a list", put("completions", "flags", ["audit", "odd"]), r"flags: 1 values .* FlagKind"),
    (
        "unknown value in a struct of a list",
        rewrite("symbols", lambda rows: rows[0]["parameters"][0].update(kind="free")),
        r"symbols\.parameters\.kind: 1 values .* ParameterKind",
    ),
    (
        "duplicate key",
        both(rewrite("changes", lambda rows: rows.append(rows[0])), entry(data("changes"), rows=2)),
        r"changes: 1 keys \(id\) are in more",
    ),
    ("no canary", put("completions", "canary", " " * 20), r"published_completions: rows without a canary"),
    ("another canary", put("completions", "canary", "not the canary of others"), r"2 different canaries"),
    (
        "an edit that is not sealed",
        rewrite("changes", lambda rows: rows.clear(), sealed=False),
        r"changes.*: sha256 is",
    ),
    ("a column less", columns("flags", lambda t: t.drop_columns(["kind"])), r"flags\.parquet: no kind, .* Driftline 0"),
    (
        "another type",
        columns("documents", lambda t: t.set_column(7, "line", t["line"].cast("int32"))),
        r"documents\.parquet: line ",
    ),
    ("no Parquet", garble(data("flags"), sealed=False), r"flags\.parquet: sha256 is"),
    ("no Parquet, sealed", garble(data("flags"), sealed=True), r"flags\.parquet: not a Parquet file"),
    (
        "no text for a name, sealed",
        misname(data("changes"), b"canonical_path"),
        r"changes\.parquet: not a Parquet file",
    ),
    ("broken pages, sealed", both(flip(data("documents"), 60), seal), r"documents\.parquet: not a Parquet file"),
    ("path climbs out", outside(lambda path: f"../{path.name}"), r"\.\./secret\.parquet: leads out of the snapshot"),
    ("path climbs on the way", outside(lambda path: f"data/../../{path.name}"), r"leads out of the snapshot"),
    ("absolute path", outside(str), r"^/.*secret\.parquet: leads out of the snapshot"),
    ("path with a zero", entry("README.md", path="a\0b"), r"a\\x00b: listed in the manifest, but missing"),
    ("path too long", entry("README.md", path="a/" * 5000), r"listed in the manifest, but missing"),
    ("no path", entry("README.md", path=""), r"listed in the manifest, but missing"),
    ("a folder as a path", entry("README.md", path="data"), r"^data: listed in the manifest, but missing"),
    ("path with colours", entry("README.md", path="\x1b[31mred"), r"^\\x1b\[31mred: listed"),
    ("a file that is a link", link(data("changes")), r"data/changes\.parquet: neither a regular file nor a folder"),
    ("a folder that is a link", link("data"), r"data/changes\.parquet: listed in the manifest, but missing"),
    ("a pipe", lambda s: os.mkfifo(s / "pipe"), r"pipe: neither a regular file nor a folder"),
    ("a name that is no text", lambda s: (s / os.fsdecode(b"\xff\n")).write_text(""), r"^\\udcff : not listed"),
]


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot that follows another one, with a completion less."""
    folder = tmp_path_factory.mktemp("followed")
    lake = demo_lake(folder / "lake")
    publish_lake(lake, folder / "snapshots")
    lake.write("published_completions", LIBRARY, lake.read("published_completions", LIBRARY)[1:])
    # what hangs on it went along
    lake.write("published_contexts", LIBRARY, [])
    lake.write("published_retrievals", LIBRARY, [])
    return publish_lake(lake, folder / "snapshots").path


def test_what_went_stands_in_a_split_of_its_own_and_every_check_holds(followed: Path) -> None:
    assert verify(followed) == []
    errata, kept = (read_parquet(followed / name) for name in ("data/errata.parquet", "deprecated/completions.parquet"))
    assert [(row["config"], row["row_id"]) for row in errata] == [("completions", row["id"]) for row in kept]


ERRATA: list[tuple[str, Tamper, str]] = [
    (
        "no split",
        both(
            manifest(lambda m: m.update(files=[e for e in m["files"] if "deprecated" not in e["path"]])),
            lambda s: shutil.rmtree(s / "deprecated"),
        ),
        r"errata: 1 rows of completions are marked as kept, and there is no deprecated/completions",
    ),
    ("a row of another id", put("errata", "row_id", "0" * 32), r"1 errata are marked as kept, .* lacks them"),
    ("a row that nothing names", put("errata", "row_id", "0" * 32), r"1 deprecated rows have no erratum"),
    ("restored, and gone", put("errata", "kept", False), r"completions\.parquet: 1 deprecated rows have no erratum"),
    ("another configuration", put("errata", "config", "symbols"), r"errata\.config: 1 rows name no configuration"),
    ("another reason", put("errata", "reason", "lost"), r"errata\.reason: 1 values are not in the vocabulary"),
    (
        "it stands among the others too",
        lambda s: rewrite(
            "completions",
            lambda rows: rows[0].update(id=read_parquet(s / "deprecated/completions.parquet")[0]["id"]),
        )(s),
        r"1 rows are both deprecated and current",
    ),
    (
        "said to be gone, and there",
        lambda s: put("errata", "row_id", read_parquet(s / "data/completions.parquet")[0]["id"])(s),
        r"errata: 1 rows of completions are reported as removed, and are current",
    ),
    ("of a table that has none", entry("deprecated/completions.parquet", table="symbols"), r"symbols are never deprec"),
    ("a byte of it", flip("deprecated/completions.parquet"), r"deprecated/completions\.parquet: sha256 is"),
]


@pytest.mark.parametrize(("tamper", "complaint"), [pytest.param(t, c, id=name) for name, t, c in ERRATA])
def test_errata_and_the_split_deprecated_are_held_against_each_other(
    followed: Path, tmp_path: Path, tamper: Tamper, complaint: str
) -> None:
    snapshot = Path(shutil.copytree(followed, tmp_path / "snapshot"))
    tamper(snapshot)
    problems = verify(snapshot)
    assert [problem for problem in problems if re.search(complaint, problem)], problems


def test_untouched_every_check_holds(snapshot: Path) -> None:
    assert verify(snapshot) == []


@pytest.mark.parametrize(("tamper", "complaint"), [pytest.param(t, c, id=name) for name, t, c in CASES])
def test_what_was_done_to_it_is_found(snapshot: Path, tamper: Tamper, complaint: str) -> None:
    tamper(snapshot)
    problems = verify(snapshot)
    assert [problem for problem in problems if re.search(complaint, problem)], problems
    assert all(problem.isprintable() for problem in problems)


OF_OTHERS = {
    "a column more": columns("flags", lambda t: t.append_column("x", pa.array([1] * len(t)))),
    "columns in another order": columns("flags", lambda t: t.select(t.column_names[::-1])),
    "a column less that may be without a value": columns(
        "completions", lambda t: t.drop_columns(["neighbour_version"])
    ),
}


@pytest.mark.parametrize("change", OF_OTHERS.values(), ids=OF_OTHERS.keys())
def test_what_another_version_published_holds_as_far_as_it_can_be_read(snapshot: Path, change: Tamper) -> None:
    change(snapshot)
    assert verify(snapshot) == []


def without(key: str) -> Tamper:
    return manifest(lambda content: content.pop(key))


def text(content: str | bytes) -> Tamper:
    return lambda snapshot: (snapshot / "manifest.json").write_bytes(
        content.encode() if isinstance(content, str) else content
    )


NO_SNAPSHOT: list[tuple[str, Tamper, str]] = [
    ("none", lambda s: (s / "manifest.json").unlink(), "not_a_snapshot"),
    ("a link", link("manifest.json"), "not_a_snapshot"),
    ("empty", text(""), "manifest_not_json"),
    ("no JSON", text("{'format': 1}"), "manifest_not_json"),
    ("no text", text(b"\xff\xfe\x00"), "manifest_not_json"),
    ("too deep", text("[" * 200_000), "manifest_not_json"),
    ("a number of too many digits", text("1" * 5000), "manifest_not_json"),
    ("a list", text("[]"), "manifest_of_other_format"),
    ("another format", manifest(lambda m: m.update(format=99)), "manifest_of_other_format"),
    ("nothing but the format", text('{"format": 1}'), "manifest_invalid"),
    ("no files", without("files"), "manifest_invalid"),
    ("files of another kind", manifest(lambda m: m.update(files={})), "manifest_invalid"),
    (
        "an entry of another kind",
        manifest(lambda m: m["files"].append(1)),
        "manifest_invalid",
    ),
    ("an entry without a path", manifest(lambda m: m["files"][0].pop("path")), "manifest_invalid"),
    ("rows as text", entry(data("changes"), rows="1"), "manifest_invalid"),
    ("a table without rows", entry("README.md", table="changes"), "manifest_invalid"),
    ("tags of another kind", manifest(lambda m: m.update(tags=[])), "manifest_invalid"),
]


@pytest.mark.parametrize(("tamper", "code"), [pytest.param(t, c, id=name) for name, t, c in NO_SNAPSHOT])
def test_what_has_no_manifest_that_can_be_read_is_no_snapshot(snapshot: Path, tamper: Tamper, code: str) -> None:
    tamper(snapshot)
    with raises(SnapshotError, code=code):
        verify(snapshot)


def test_a_folder_with_an_awkward_name(published: Path, tmp_path: Path) -> None:
    """DuckDB would take brackets and stars for a pattern, and `library=x` for a column."""
    awkward = tmp_path / "we:ird [ab]* %20#" / "library=x"
    shutil.copytree(published, awkward)
    assert verify(awkward) == []


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_byte_can_change_unnoticed(snapshot: Path, draw: st.DataObject) -> None:
    files = sorted(path for path in snapshot.rglob("*") if path.is_file() and path.name != "manifest.json")
    path = draw.draw(st.sampled_from(files))
    before = path.read_bytes()
    position = draw.draw(st.integers(0, len(before) - 1))
    flip(str(path.relative_to(snapshot)), position)(snapshot)
    try:
        assert any(str(path.relative_to(snapshot)) in problem for problem in verify(snapshot))
        seal(snapshot)
        assert all(problem.isprintable() for problem in verify(snapshot))
    finally:
        path.write_bytes(before)
        seal(snapshot)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from(["files", "tags", "libraries", "period", "profile", "format"]), value=JSON)
def test_any_manifest_is_read_or_refused(published: Path, tmp_path: Path, key: str, value: Any) -> None:
    content = json.loads((published / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(content | {key: value}))
    try:
        found = json.loads(read_manifest(tmp_path).model_dump_json())[key]
    except ValueError as error:
        found = str(error)
    assert found == value or "manifest.json: " in found
