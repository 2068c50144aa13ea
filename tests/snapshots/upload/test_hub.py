"""Snapshots on the Hub, through its real client: a commit of `main`, a tag for ever, nothing half."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from pipeline.snapshots.format.manifest import read_manifest
from pipeline.snapshots.upload.hub import upload_to_hub
from pipeline.snapshots.upload.outgoing import NotUploaded, Outgoing, Uploaded, outgoing
from tests.errors import raises
from tests.snapshots.lakes import demo_snapshot, tables
from tests.snapshots.upload.hub_server import READER, WRITER, Hub, Repository, hub_server

REPO = "lab/driftline-mine"


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Outgoing:
    folder = tmp_path_factory.mktemp("published")
    return outgoing(demo_snapshot(folder))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A Hub, and somebody signed in who may write. Xet is a store of the Hub's own: without it large files go by LFS."""
    with hub_server() as hub:
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_PROGRESS_BARS", True)
        monkeypatch.setenv("HF_TOKEN", WRITER)
        yield hub


def upload(hub: Hub, snapshot: Outgoing, to: str = REPO, *, private: bool = False) -> Uploaded:
    return upload_to_hub(snapshot, to, private=private, endpoint=hub.url)


def contents(snapshot: Outgoing) -> dict[str, bytes]:
    return {file.path: file.local.read_bytes() for file in snapshot.files}


def another(snapshot: Outgoing, folder: Path, name: str, *, text: str | None = None, without: str = "") -> Outgoing:
    """A snapshot of another name, with another card where so asked, and without a file."""
    path = folder / name
    shutil.copytree(snapshot.manifest.local.parent, path)
    manifest = read_manifest(path)
    entries = [entry for entry in manifest.files if entry.path != without]
    if without:
        (path / without).unlink()
    if text is not None:
        (path / "ATTRIBUTION.md").write_text(text)
    manifest.model_copy(update={"files": tuple(entries), "rules_sha256": name}).write(path / "manifest.json")
    files = [file for file in snapshot.files if file.path != without]
    local = {file.path: path / file.path for file in files}
    return Outgoing(snapshot.profile, name, tuple(type(f)(f.path, local[f.path], f.sha256, f.bytes) for f in files))


def puts(hub: Hub) -> int:
    return sum(number for request, number in hub.asked.items() if request.startswith("PUT /lfs/"))


def commits(hub: Hub) -> int:
    return len(hub.repositories[REPO].commits) - 1


def test_a_snapshot_is_one_commit_and_a_tag(hub: Hub, snapshot: Outgoing) -> None:
    done = upload(hub, snapshot, REPO)
    assert hub.files(REPO) == hub.files(REPO, snapshot.name) == contents(snapshot)
    assert (commits(hub), hub.repositories[REPO].private) == (1, False)
    assert (set(done.sent), done.existing, done.latest) == (set(contents(snapshot)), (), snapshot.name)
    assert done.address == f"{hub.url}/datasets/{REPO}"


def test_a_private_repository_is_made_where_asked_for(hub: Hub, snapshot: Outgoing) -> None:
    upload(hub, snapshot, REPO, private=True)
    assert hub.repositories[REPO].private


def test_what_should_be_private_never_goes_where_everybody_can_read(hub: Hub, snapshot: Outgoing) -> None:
    hub.repositories[REPO] = Repository(private=False)
    before = hub.repositories[REPO].commit({".gitattributes": b""})
    with raises(NotUploaded, code="upload_repository_public"):
        upload(hub, snapshot, REPO, private=True)
    assert (hub.repositories[REPO].main, hub.large) == (before, {})
    hub.repositories[REPO].private = True
    upload(hub, snapshot, REPO, private=True)
    assert hub.files(REPO) == contents(snapshot)


def test_again_is_nothing_to_do(hub: Hub, snapshot: Outgoing) -> None:
    upload(hub, snapshot, REPO)
    sent = puts(hub)
    done = upload(hub, snapshot, REPO)
    assert (done.sent, set(done.existing)) == ((), set(contents(snapshot)))
    assert (commits(hub), puts(hub)) == (1, sent)


def test_main_moves_on_and_tags_stay(hub: Hub, snapshot: Outgoing, tmp_path: Path) -> None:
    newer = another(snapshot, tmp_path, "mine-2021-04-01", without="croissant.json")
    upload(hub, snapshot, REPO)
    sent = puts(hub)
    done = upload(hub, newer, REPO)
    assert hub.files(REPO) == contents(newer)
    assert hub.files(REPO, snapshot.name) == contents(snapshot)
    assert done.sent == ("manifest.json",)
    assert puts(hub) == sent  # the Parquet files are the same
    with raises(NotUploaded, "mine-2021-04-01", "mine-2021-03-03", code="upload_older"):
        upload(hub, another(snapshot, tmp_path, "mine-2021-03-03"), REPO)
    assert upload(hub, snapshot, REPO).latest == newer.name
    assert hub.files(REPO) == contents(newer)


def test_a_tag_is_never_another_snapshot(hub: Hub, snapshot: Outgoing, tmp_path: Path) -> None:
    upload(hub, snapshot, REPO)
    with raises(NotUploaded, code="upload_tag_taken"):
        upload(hub, another(snapshot, tmp_path, snapshot.name), REPO)
    assert hub.files(REPO, snapshot.name) == contents(snapshot)


@pytest.mark.parametrize(
    "there", [{"data.csv": b"1,2"}, {"manifest.json": b"[]"}, {"manifest.json": b'{"profile": "wide"}'}]
)
def test_what_is_somebody_elses_is_left_alone(hub: Hub, snapshot: Outgoing, there: dict[str, bytes]) -> None:
    hub.repositories[REPO] = Repository(private=False)
    hub.repositories[REPO].commit(there)
    with raises(NotUploaded, REPO, code="upload_repository_foreign"):
        upload(hub, snapshot, REPO)
    assert hub.files(REPO) == there


def test_a_repository_that_was_made_by_hand_is_taken(hub: Hub, snapshot: Outgoing) -> None:
    hub.repositories[REPO] = Repository(private=True)
    hub.repositories[REPO].commit({".gitattributes": b"", "README.md": b"to come\n"})
    upload(hub, snapshot, REPO)
    assert hub.files(REPO) == contents(snapshot)


@pytest.mark.parametrize(
    ("token", "told"),
    [
        (None, "hf auth login"),
        ("hf_unknown", "Invalid credentials"),
        (READER, "HF_TOKEN"),
    ],
)
def test_who_may_not_write_is_told(
    hub: Hub, snapshot: Outgoing, monkeypatch: pytest.MonkeyPatch, token: str | None, told: str
) -> None:
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", "/nonexistent")
    monkeypatch.delenv("HF_TOKEN")
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    with raises(NotUploaded, told, code="upload_refused"):
        upload(hub, snapshot, REPO)
    assert hub.repositories == {}


def test_a_name_that_cannot_be_is_told(hub: Hub, snapshot: Outgoing) -> None:
    with raises(NotUploaded, code="upload_repository_invalid"):
        upload(hub, snapshot, "a/b/c")


def test_passing_trouble_is_tried_again(hub: Hub, snapshot: Outgoing) -> None:
    hub.faults = {"PUT /lfs/": [503]}
    upload(hub, snapshot, REPO)
    assert hub.files(REPO) == contents(snapshot)


def test_an_upload_that_broke_off_goes_on_where_it_was(hub: Hub, snapshot: Outgoing) -> None:
    hub.faults = {"PUT /lfs/": [200] * 9 + [400] * 99}
    with raises(NotUploaded, code="upload_broken_off"):
        upload(hub, snapshot, REPO)
    there = set(hub.large)
    assert 0 < len(there) <= 9
    assert (hub.files(REPO), hub.repositories[REPO].tags) == ({}, {})
    hub.faults, hub.asked = {}, type(hub.asked)()
    upload(hub, snapshot, REPO)
    assert {f"PUT /lfs/{sha256}" for sha256 in set(hub.large) - there} == {
        each for each in hub.asked if each[:3] == "PUT"
    }
    assert hub.files(REPO) == contents(snapshot)


def test_a_commit_without_its_tag_gets_it(hub: Hub, snapshot: Outgoing) -> None:
    hub.faults = {f"POST /api/datasets/{REPO}/tag": [500]}
    with raises(NotUploaded, "500", code="upload_refused"):
        upload(hub, snapshot, REPO)
    assert hub.repositories[REPO].tags == {}
    done = upload(hub, snapshot, REPO)
    assert (commits(hub), done.sent) == (1, ())
    assert hub.files(REPO, snapshot.name) == contents(snapshot)


def test_who_commits_meanwhile_is_not_overwritten(hub: Hub, snapshot: Outgoing) -> None:
    hub.before_commit = lambda repository: repository.commit({"README.md": b"somebody else\n"})
    with raises(NotUploaded, "main", code="upload_refused"):
        upload(hub, snapshot, REPO)
    assert hub.files(REPO) == {"README.md": b"somebody else\n"}


@pytest.mark.slow
def test_from_the_command_line_to_datasets_in_one_line(hub: Hub, snapshot: Outgoing, tmp_path: Path) -> None:
    """Two programs that know of each other only what the Hub knows."""
    environment = os.environ | {
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    folder = str(snapshot.manifest.local.parent)
    command = [
        sys.executable,
        "-c",
        "from pipeline.cli.main import main; main()",
        "upload",
        folder,
        f"hf://datasets/{REPO}",
        "--json",
    ]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert json.loads(told)["latest"] == snapshot.name
    program = (
        "import datasets;"
        f" rows = datasets.load_dataset({REPO!r}, 'completions', split='test', revision={snapshot.name!r});"
        " print(len(rows), rows.column_names)"
    )
    shown = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert shown.stdout.startswith(f"{len(tables()['published_completions'])} ['id', 'library', 'version'")
