"""Publishing of a refresh: a release check that holds leaves `latest`; record, error and page say why."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES
from pipeline.core.vocabularies.release_checks import CheckKind, PublicationState
from pipeline.lake.pinned_versions import unpin
from pipeline.lake.tables import Lake
from pipeline.orchestration.publishing import publish_snapshot
from pipeline.orchestration.publishing.apply_decisions import NotJudged
from pipeline.orchestration.publishing.publish_snapshot import (
    AwaitsApproval,
    HeldBack,
    NoRefresh,
    end_unsigned,
    last_refresh,
    place_refresh,
    prepare_candidate,
    publication_of,
    publish_last,
    published_of,
)
from pipeline.orchestration.publishing.superseding import waits
from pipeline.orchestration.refresh import Refresh, begin, refresh_of
from pipeline.orchestration.report.source import PAGE, write_report
from pipeline.snapshots.format.names import latest
from pipeline.snapshots.format.rows import NothingToPublish
from pipeline.snapshots.publication import Signature, read_publication
from pipeline.snapshots.release_checks.release_checks import weigh
from pipeline.snapshots.release_checks.rules import OWN_RULES
from pipeline.snapshots.snapshot import NotPlaced
from pipeline.snapshots.verify import verify
from tests.cli import command
from tests.errors import raises
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.snapshots.lakes import contents, demo_lake

ADA = Signature("ada", approved=True, when="2026-11-22T10:00:00+00:00", note="looked at it")


@pytest.fixture
def lake(data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Lake:
    """A lake of one library, and release checks of its own that measure few rows too."""
    shutil.copytree(RULES, tmp_path / "rules")
    monkeypatch.setenv("DRIFTLINE_RULES", str(tmp_path / "rules"))
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", "http://127.0.0.1:1/simple")
    open_limits(tmp_path / "rules")
    return demo_lake(data / "lake")


def limits(rules: Path, old: str, new: str) -> None:
    path = rules / "release_checks.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def open_limits(rules: Path) -> None:
    """Let everything through; a test sets the limit that it is about."""
    (rules / "release_checks.yaml").write_text(
        "least: 1\nrejected: []\nunproven: []\nagreement: {hold_below: -1, least: 30}\nlost_libraries: {hold_above: 1}\n"
        + "".join(["limits:\n", *(f"  {kind}: {{hold_above: 1}}\n" for kind in CheckKind if kind not in OWN_RULES)])
        + "approval: {users: [], gives_way_after_h: 24, within_days: 7}\n"
    )


@pytest.fixture
def rules(lake: Lake, tmp_path: Path) -> Path:
    return tmp_path / "rules"


def refreshed(run: str = "one") -> Refresh:
    """A refresh that has collected all it wanted."""
    refresh = Refresh(run, libraries=(LIBRARY,))
    begin(refresh)
    return refresh


def now_latest(data: Path) -> Path | None:
    return latest(data / "snapshots", "starter")


def test_what_nothing_is_in_the_way_of_is_placed(lake: Lake, rules: Path, data: Path) -> None:
    refresh = refreshed()
    published = publish_last(refresh)
    assert verify(published.path) == []
    assert now_latest(data) == published.path == published_of(refresh).path  # type: ignore[union-attr]
    publication = publication_of(refresh)
    assert publication is not None
    assert (publication.state, publication.snapshot) == (PublicationState.PUBLISHED, published.path.name)
    assert not list((data / "candidates" / "starter").glob("*/manifest.json"))
    assert str(data) not in (refresh.folder / "release.json").read_text()
    assert str(data) not in (refresh.folder / "published.json").read_text()


def test_a_check_that_holds_leaves_latest_and_says_why_everywhere(
    lake: Lake, rules: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = publish_last(refreshed())
    before = contents(first.path)
    limits(rules, "lost: {hold_above: 1}", "lost: {hold_above: 0.5}")
    lake.write("published_migrations", LIBRARY, [])
    refresh = refreshed("two")
    with raises(HeldBack, "latest", "lost", code="snapshot_held"):
        publish_last(refresh, signed_by="ada")
    assert now_latest(data) == first.path
    assert contents(first.path) == before
    assert published_of(refresh) is None
    publication = publication_of(refresh)
    assert publication is not None
    assert publication.state == PublicationState.HELD
    assert [result.kind for result in publication.release_checks if result.status == "hold"] == [CheckKind.LOST]
    write_report(refresh)
    page = (refresh.folder / PAGE).read_text()
    assert "migrations of starter-" in page
    assert "hold" in page
    done = command.driftline(monkeypatch, capsys)("publish")
    assert (done.status, "is held back" in done.err, "lost (migrations of" in done.err) == (1, True, True)


def test_who_has_to_sign_is_waited_for(
    lake: Lake, rules: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    limits(rules, "unreviewed: {hold_above: 1}", "unreviewed: {approval_above: 0}")
    refresh = refreshed()
    with raises(AwaitsApproval, "--signed-by NAME", "unreviewed", code="approval_needed"):
        publish_last(refresh)
    assert now_latest(data) is None
    driftline = command.driftline(monkeypatch, capsys)
    waiting = driftline("publish", "--json")
    assert (waiting.status, waiting.json["state"]) == (1, "waiting")
    signed = driftline("publish", "--signed-by", "ada", "--json")
    assert signed.status == 0, signed.err
    assert (signed.json["state"], signed.json["signature"]["signer"]) == ("published", "ada")
    assert now_latest(data) is not None
    # What is published already was signed: nobody is asked again.
    again = driftline("publish", "--json")
    assert (again.status, again.json["state"]) == (0, "published")


def test_the_answer_of_a_person_is_kept_with_the_run(lake: Lake, rules: Path, data: Path) -> None:
    limits(rules, "unreviewed: {hold_above: 1}", "unreviewed: {approval_above: 0}")
    refresh = refreshed()
    assert prepare_candidate(refresh).asks
    with pytest.raises(AwaitsApproval):
        place_refresh(refresh, replace(ADA, approved=False))
    waiting = publication_of(refresh)
    assert waiting is not None
    assert waiting.candidate is not None
    signature = replace(ADA, candidate=waiting.candidate.manifest_sha256)
    asked = waiting.candidate.manifest_sha256
    refused = end_unsigned(refresh, asked, replace(signature, approved=False))
    assert refused is not None
    assert (refused.state, refused.reason) == (
        PublicationState.REFUSED,
        "ada refused to sign it off: looked at it; `latest` stays as it was",
    )
    assert now_latest(data) is None
    prepare_candidate(refresh)
    unanswered = end_unsigned(refresh, asked, None)
    assert unanswered is not None
    assert (unanswered.state, "within 7 days" in unanswered.reason) == (PublicationState.UNANSWERED, True)
    prepare_candidate(refresh)
    superseded = end_unsigned(refresh, asked, None, newer="two")
    assert superseded is not None
    assert (superseded.state, "the run two left a newer lake" in superseded.reason) == ("superseded", True)
    prepare_candidate(refresh)
    published = place_refresh(refresh, signature)
    kept = read_publication(refresh.folder, data / "candidates")
    assert kept is not None
    assert (kept.signature, kept.snapshot) == (signature, published.path.name)
    assert end_unsigned(refresh, asked, None) == kept


def test_no_other_refresh_moves_a_candidate_away_while_it_is_weighed(
    lake: Lake, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two refreshes of one lake come to the same candidate: one had placed it, and the other found no manifest."""
    first = refreshed()
    candidate = prepare_candidate(first).candidate
    assert candidate is not None
    placing = threading.Thread(target=place_refresh, args=(first,))

    def weigh_slowly(*arguments: Any) -> Any:
        placing.start()
        placing.join(0.5)
        assert candidate.path.is_dir()
        return weigh(*arguments)

    monkeypatch.setattr(publish_snapshot, "weigh", weigh_slowly)
    assert prepare_candidate(refreshed("two")).state is PublicationState.READY
    placing.join()
    assert now_latest(data) is not None


def test_an_approval_holds_for_its_own_candidate_alone(
    lake: Lake, rules: Path, data: Path, driftline: command.Driftline
) -> None:
    """Whoever clears the task `candidate` alone has another candidate made, and the old answer is still there."""
    limits(rules, "unreviewed: {hold_above: 1}", "unreviewed: {approval_above: 0}")
    refresh = refreshed()
    seen = prepare_candidate(refresh).candidate
    assert seen is not None
    unpin(refresh.folder)
    lake.write("usages", LIBRARY, [])
    again = prepare_candidate(refresh)
    assert not again.is_about(seen.manifest_sha256)
    signature = replace(ADA, candidate=seen.manifest_sha256)
    with raises(AwaitsApproval, "approval", code="approval_of_other"):
        place_refresh(refresh, signature)
    # Nor does that end the question about the other one, whether it was answered or gave way.
    assert end_unsigned(refresh, seen.manifest_sha256, replace(signature, approved=False)) == again
    assert end_unsigned(refresh, seen.manifest_sha256, None) == again
    assert end_unsigned(refresh, "", None) == again
    assert now_latest(data) is None
    # On the command line too: what waits was seen, what is made now was not.
    unpin(refresh.folder)
    lake.write("documents", LIBRARY, [])
    refused = driftline("publish", "--signed-by", "bob")
    assert (refused.status, "bob approved another candidate" in refused.err) == (1, True)
    assert driftline("publish", "--signed-by", "bob").status == 0
    assert now_latest(data) is not None


def test_a_candidate_waits_on_though_no_other_can_be_made(
    lake: Lake, rules: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody publishes while the review database does not answer: who was asked about the candidate may answer."""
    limits(rules, "unreviewed: {hold_above: 1}", "unreviewed: {approval_above: 0}")
    refresh = refreshed()
    waiting = prepare_candidate(refresh)
    assert waiting.candidate is not None
    (data / "nowhere").touch()
    with monkeypatch.context() as patched:
        patched.setenv("DRIFTLINE_REVIEWS", f"sqlite:///{data}/nowhere/reviews.sqlite")
        with raises(NotJudged, "stage decisions", "StoreError", code="decisions_not_applied"):
            publish_last(refresh)
    assert publication_of(refresh) == waiting
    place_refresh(refresh, replace(ADA, candidate=waiting.candidate.manifest_sha256))
    assert now_latest(data) is not None


def test_a_candidate_in_the_folder_of_earlier_builds_is_placed(lake: Lake, rules: Path, data: Path) -> None:
    limits(rules, "unreviewed: {hold_above: 1}", "unreviewed: {approval_above: 0}")
    refresh = refreshed()
    waiting = prepare_candidate(refresh).candidate
    assert waiting is not None
    (data / "candidates").rename(data / "drafts")
    published = place_refresh(refresh, replace(ADA, candidate=waiting.manifest_sha256))
    assert (now_latest(data), verify(published.path)) == (published.path, [])
    assert not (data / "candidates").exists()


def test_who_publishes_on_another_machine_has_what_others_left(
    rules: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One makes a candidate, one makes it again and places it, one finds it placed; each has a folder of its own."""
    monkeypatch.setenv("DRIFTLINE_LAKE", str(tmp_path / "shared"))
    limits(rules, "unreviewed: {hold_above: 1}", "unreviewed: {approval_above: 0}")
    demo_lake(tmp_path / "shared")
    waiting = prepare_candidate(refreshed()).candidate
    assert waiting is not None
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "two"))
    refresh = last_refresh("starter")
    Lake(tmp_path / "shared").write("usages", LIBRARY, [])  # a later refresh
    published = place_refresh(refresh, replace(ADA, candidate=waiting.manifest_sha256))
    assert (published.manifest_sha256, published.written) == (waiting.manifest_sha256, True)
    assert published.path.parent.parent == tmp_path / "two" / "snapshots"
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "three"))
    write_report(refresh)
    here = now_latest(tmp_path / "three")
    assert here is not None
    assert (verify(here), contents(here)) == ([], contents(published.path))
    again = place_refresh(last_refresh("starter"), replace(ADA, candidate=waiting.manifest_sha256))
    assert (again.path, again.written) == (here, False)


def test_an_approval_is_open_as_long_as_its_candidate_waits(lake: Lake, rules: Path, data: Path) -> None:
    limits(rules, "unreviewed: {hold_above: 1}", "unreviewed: {approval_above: 0}")
    refresh = refreshed()
    candidate = prepare_candidate(refresh).candidate
    assert candidate is not None
    assert waits("starter", refresh.run, candidate.manifest_sha256)
    assert not waits("starter", refresh.run, "another")
    publish_last(refresh, signed_by="ada")
    assert not waits("starter", refresh.run, candidate.manifest_sha256)


def test_a_superseded_candidate_is_not_placed(lake: Lake, rules: Path, data: Path) -> None:
    """Two candidates of one period: one waits for a person while the other is placed."""
    publish_last(refreshed())
    lake.write("flags", LIBRARY, [])
    waiting, other = refreshed("waiting"), refreshed("other")
    prepare_candidate(waiting)
    lake.write("rejects", LIBRARY, [], part="part")
    second = publish_last(other)
    with raises(NotPlaced, "driftline publish", code="candidate_superseded"):
        place_refresh(waiting)
    assert now_latest(data) == second.path
    publication = publication_of(waiting)
    assert publication is not None
    assert publication.state == PublicationState.FAILED


def test_placing_again_finds_it_placed(lake: Lake, rules: Path, data: Path) -> None:
    """A task that is killed when the candidate is in its place is tried again."""
    refresh = refreshed()
    prepare_candidate(refresh)
    first = place_refresh(refresh)
    again = place_refresh(refresh)
    assert (again.path, again.written, first.written) == (first.path, False, True)


def test_nothing_to_publish_is_told(data: Path, rules: Path) -> None:
    refresh = Refresh("none", libraries=("nonesuch",))
    with pytest.raises(NothingToPublish):
        publish_last(refresh)
    publication = publication_of(refresh)
    assert publication is not None
    assert publication.state == PublicationState.NOTHING
    assert "nothing to publish for profile starter" in publication.reason


def test_without_a_refresh_there_is_nothing_to_publish(data: Path, driftline: command.Driftline) -> None:
    with raises(NoRefresh, "driftline refresh --profile mine", code="refresh_missing"):
        last_refresh("mine")
    done = driftline("publish", "--run", "x")
    assert (done.status, "no run x of profile starter" in done.err) == (1, True)


@pytest.fixture
def driftline(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> command.Driftline:
    return command.driftline(monkeypatch, capsys)


def test_the_newest_refresh_of_the_profile_is_published(data: Path, rules: Path) -> None:
    for run in ("a", "b"):
        begin(Refresh(run, libraries=(LIBRARY,), since="2021-01-01", until="2022-01-01"))
    newest = last_refresh("starter")
    assert (newest.run, newest.until) == ("b", "2022-01-01")
    assert last_refresh("starter", "a").run == "a"
    assert refresh_of(newest.plain) == newest


def test_an_older_refresh_publishes_nothing_of_later(lake: Lake, rules: Path, data: Path) -> None:
    """What a refresh pinned is gone once it is published: the lake may be of a later time when somebody asks again."""
    before = min(row["release_time"] for row in lake.read("releases", LIBRARY))
    begin(Refresh("older", libraries=(LIBRARY,), until=before.isoformat()))
    with pytest.raises(NothingToPublish):
        publish_last(last_refresh("starter", "older"))
    assert now_latest(data) is None


def test_families_of_a_refresh_are_known_to_who_publishes_it_again(data: Path, rules: Path) -> None:
    asked = Refresh("some", libraries=(LIBRARY,), families=("problems",), sources=("downstream",))
    begin(asked)
    assert last_refresh("starter", "some") == asked
