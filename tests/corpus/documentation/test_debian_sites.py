"""Whole Sphinx sites from Debian's packages: of Flask, PyWavelets and toolz, and a part of pandas'."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.documentation.sites import sites_stage
from pipeline.index.release_selection import Period
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from tests.corpus.documentation.builders import source

pytestmark = pytest.mark.slow

PANDAS_PAGES = ("*/html/objects.inv", "*/html/reference/api/pandas.DataFrame.d*.html", "*/html/user_guide/merging.html")


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        pytest.skip(f"{command[0]} {command[1]} does not work here: {done.stderr.strip()[-200:]}")
    return done.stdout


class Site:
    """A documentation package of Debian, unpacked without installing it, and the release that it is of."""

    def __init__(self, library: str, root: Path, *members: str) -> None:
        package = f"python-{library}-doc"
        for tool in ("apt-get", "dpkg-deb"):
            if shutil.which(tool) is None:
                pytest.skip(f"{tool} is not here: Debian's documentation packages cannot be had")
        if not run("apt-cache", "policy", package, cwd=root).strip():
            run("apt-get", "update", cwd=root)
        if not list(root.glob(f"{package}_*.deb")):
            run("apt-get", "download", package, cwd=root)
        (deb,) = root.glob(f"{package}_*.deb")
        self.version = deb.name.split("_")[1].partition("-")[0].partition("+")[0]
        with (root / f"{package}.tar").open("wb") as tar:
            subprocess.run(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=tar, check=True, timeout=300)
        expected = ["--wildcards", *members] if members else []
        run("tar", "--extract", "--file", f"{package}.tar", *expected, cwd=root)
        (root / f"{package}.tar").unlink()
        self.folder = root / "usr" / "share" / "doc" / package / "html"
        self.release: ReleaseRow = {
            "library": library, "version": self.version, "import_names": [library], "licence": None, "attribution": None,
            "release_time": datetime(2023, 1, 1, tzinfo=UTC), "purl": f"pkg:pypi/{library}@{self.version}",
        }  # fmt: skip


class Read:
    """What a site gave."""

    def __init__(self, site: Site, tmp_path: Path) -> None:
        library, period = site.release["library"], Period()
        plug = source(tmp_path, {"library": library, "address": f"file://{site.folder}", "version": site.version})
        self.output: Output = sites_stage(library, {"releases": [site.release], "site_documents": []}, plug, period)
        self.rows = {row["path"]: row for row in self.output.by_table["site_documents"]}
        self.samples = [item for item in plug.find(library, [site.release], period) if isinstance(item, CodeSample)]
        for row in self.rows.values():
            table("site_documents").check(row)

    def parameters(self, path: str) -> list[tuple[str, bool | None, bool]]:
        """Return the parameters of an API: name, whether it must be given, whether it is described."""
        return [(p["name"], p["mandatory"], bool(p["description"])) for p in self.rows[path]["parameters"]]

    def share(self, column: str) -> float:
        """Return the share of documents that have something in a column."""
        return sum(bool(row[column]) for row in self.rows.values()) / len(self.rows)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("debian")


def test_flask(root: Path, tmp_path: Path) -> None:
    read = Read(Site("flask", root), tmp_path)
    assert read.output.units_out / read.output.units_in > 0.9
    assert set(read.output.reasons) <= {"duplicate", "out_of_scope", "no_text"}
    assert read.parameters("flask.Flask.add_url_rule") == [
        ("rule", True, True), ("endpoint", False, True), ("view_func", False, True),
        ("provide_automatic_options", False, True), ("**options", False, True),
    ]  # fmt: skip
    assert read.share("description") > 0.99
    assert read.share("directives") > 0.3
    quickstart = [item.text for item in read.samples if item.file == "quickstart.html"]
    assert any("@app.route" in text for text in quickstart)
    assert not any(text.startswith("$ ") for text in quickstart)
    assert not any(item.file == "changes.html" for item in read.samples)


def test_pywavelets_writes_signatures_by_hand(root: Path, tmp_path: Path) -> None:
    read = Read(Site("pywt", root), tmp_path)
    assert set(read.output.reasons) <= {"duplicate", "out_of_scope", "no_text"}
    assert (
        read.rows["pywt.WaveletPacket.__init__"]["signature"] == "(data, wavelet[, mode='symmetric'[, maxlevel=None]])"
    )
    assert read.parameters("pywt.WaveletPacket.__init__") == [
        ("data", True, True), ("wavelet", True, True), ("mode", False, True), ("maxlevel", False, True),
    ]  # fmt: skip


def test_toolz_is_all_examples(root: Path, tmp_path: Path) -> None:
    read = Read(Site("toolz", root), tmp_path)
    assert read.share("examples") > 0.9
    assert read.rows["toolz.itertoolz.accumulate"]["signature"] == "(binop, seq, initial='__no__default__')"


def test_a_part_of_pandas(root: Path, tmp_path: Path) -> None:
    read = Read(Site("pandas", root, *PANDAS_PAGES), tmp_path)
    assert {f"pandas.DataFrame.{name}" for name in ("describe", "diff", "div", "dot", "drop")} <= read.rows.keys()
    missing = Counter(reject.reason for reject in read.output.rejects)
    assert missing[RejectReason.VANISHED] > 2000, "the pages that were not unpacked"
    assert read.output.units_in == read.output.units_out + len(read.output.rejects)
    assert read.parameters("pandas.DataFrame.drop_duplicates") == [
        ("subset", False, True), ("keep", False, True), ("inplace", False, True), ("ignore_index", False, True),
    ]  # fmt: skip
    row = read.rows["pandas.DataFrame.drop_duplicates"]
    assert [(d["directive"], d["name"], d["stated_version"]) for d in row["directives"]] == [
        ("versionadded", "ignore_index", "1.0.0")
    ]
    assert any(item.file == "user_guide/merging.html" and item.text.startswith("In [1]: ") for item in read.samples)
