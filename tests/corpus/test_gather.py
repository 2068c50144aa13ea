"""Asking every source of real code: one that fails must not cost what the others have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language, SnippetSource, VersionEvidence
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.gather import gather_stage
from pipeline.index.http import Unreachable
from pipeline.index.release_selection import Period
from pipeline.lake.rows import ReleaseRow, Tables
from pipeline.lake.schema import table
from pipeline.lake.stage import Reject

EMPTY: Tables = {"releases": [], "code_samples": []}
PIECE = CodeSample(
    source=SnippetSource.DOWNSTREAM,
    library="demo",
    version="1.0",
    version_evidence=VersionEvidence.EXACT_PIN,
    version_statement="setup.py:3: demo==1.0",
    origin="pypi:user",
    place="pkg:pypi/user@2.0",
    url="https://example.org/user",
    file="user/main.py",
    line=1,
    text="import demo\n",
    language=Language.PYTHON,
    created_time=datetime(2021, 1, 1, tzinfo=UTC),
    licence="MIT",
    attribution="A. User",
    title=None,
)
REJECT = Reject("user 1.0", RejectReason.BAD_ARCHIVE, "truncated")


@dataclass
class Source:
    """A source of what it is given."""

    name: SnippetSource
    gives: Sequence[CodeSample | Reject | Exception]
    why: str | None = None
    asked: list[tuple[str, Period]] = field(default_factory=list)

    def unavailable(self) -> str | None:
        return self.why

    def find(self, library: str, releases: Sequence[ReleaseRow], period: Period) -> Iterator[CodeSample | Reject]:
        self.asked.append((library, period))
        for give in self.gives:
            if isinstance(give, Exception):
                raise give
            yield give


def test_the_others_go_on() -> None:
    later = replace(PIECE, text="import demo.x\n")
    sources = [
        Source(SnippetSource.GITHUB, [PIECE], why="no token: set GITHUB_TOKEN"),
        Source(SnippetSource.DOCUMENTATION, [replace(PIECE, file="b.py"), Unreachable("it is gone"), later]),
        Source(SnippetSource.DOWNSTREAM, [PIECE, REJECT, PIECE]),
    ]
    output = gather_stage("demo", EMPTY, sources, Period())
    for row in output.tables["code_samples"]:
        table("code_samples").check(row)
    assert [row["file"] for row in sorted(output.tables["code_samples"], key=lambda row: row["file"])] == [
        "b.py",
        PIECE.file,
    ]
    assert (output.units_in, output.units_out, list(output.rejects)) == (3, 2, [REJECT])
    assert [(note.key, note.reason) for note in output.notes] == [
        ("github", RejectReason.SOURCE_LEFT_OUT),
        ("documentation", RejectReason.SOURCE_UNREACHABLE),
    ]
    assert "GITHUB_TOKEN" in output.notes[0].detail
    assert "it is gone" in output.notes[1].detail
    assert sources[0].asked == []


def test_stored_samples_stay() -> None:
    first = gather_stage("demo", EMPTY, [Source(SnippetSource.DOWNSTREAM, [PIECE])], Period())
    new = Source(SnippetSource.DOWNSTREAM, [replace(PIECE, version="1.1")])
    both = gather_stage("demo", {"releases": [], "code_samples": first.tables["code_samples"]}, [new], Period())
    assert sorted(row["version"] for row in both.tables["code_samples"]) == ["1.0", "1.1"]
    assert both == gather_stage("demo", {"releases": [], "code_samples": both.tables["code_samples"]}, [new], Period())


def test_a_profile_narrows_the_period_of_a_refresh() -> None:
    early, late = datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
    assert Period().within(None, None) == Period()
    assert Period(early, late).within(date(2019, 5, 1), date(2021, 5, 1)) == Period(
        early, datetime(2021, 5, 1, tzinfo=UTC)
    )
    assert Period(None, late).within(date(2021, 5, 1), date(2025, 1, 1)) == Period(
        datetime(2021, 5, 1, tzinfo=UTC), late
    )


def test_earlier_rejects_of_a_silent_source_stay() -> None:
    day, later = Period(None, datetime(2021, 2, 1, tzinfo=UTC)), Period(datetime(2021, 2, 1, tzinfo=UTC), None)
    other = Reject("user 2.0", RejectReason.YANKED, "withdrawn")
    first = gather_stage("demo", EMPTY, [Source(SnippetSource.GITHUB, [REJECT])], day)
    assert list(first.rejects) == [REJECT]
    progress = first.progress
    second = gather_stage("demo", EMPTY, [Source(SnippetSource.GITHUB, [other])], later, progress)
    assert list(second.rejects) == [REJECT, other], "of another period"
    silent = gather_stage("demo", EMPTY, [Source(SnippetSource.GITHUB, [], why="no token")], later, second.progress)
    assert list(silent.rejects) == [REJECT, other]
    again = gather_stage("demo", EMPTY, [Source(SnippetSource.GITHUB, [PIECE])], day, second.progress)
    assert list(again.rejects) == [other], "of that period it says something else now"
