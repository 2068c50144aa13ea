"""Stack Overflow as a source: the same rows from the dump and from the API, and what is said of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language, SnippetSource, VersionEvidence
from pipeline.corpus.code_source import CodeSample, CodeSource
from pipeline.corpus.stack_overflow.mentions import stack_overflow_rules
from pipeline.corpus.stack_overflow.source import StackOverflow
from pipeline.index.http import Fetcher
from pipeline.index.release_selection import Period
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject
from tests.corpus.stack_overflow.builders import PANDAS, POSTS, day
from tests.corpus.stack_overflow.site import Site, Written, serve, write_dump

RULE = stack_overflow_rules(RULES)
ALL = Period()


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(Site(POSTS)) as served:
        yield served


def asking(site: Site, cache: Path, **more: object) -> StackOverflow:
    fetcher = Fetcher(timeout_s=5, retries=1, backoff_s=0.01)
    return StackOverflow(fetcher, RULE, cache, libraries=["pandas"], api_url=site.url, **more)  # type: ignore[arg-type]


def reading(dump: Path, cache: Path) -> StackOverflow:
    fetcher = Fetcher(timeout_s=5, retries=0)
    return StackOverflow(fetcher, RULE, cache, libraries=["pandas"], api_url="http://127.0.0.1:9/2.3", dump=dump)


def find_samples(source: StackOverflow, library: str = "pandas", period: Period = ALL) -> list[CodeSample | Reject]:
    releases: list[ReleaseRow] = PANDAS if library == "pandas" else []
    return list(source.find(library, releases, period))


def test_it_is_a_source(site: Site, tmp_path: Path) -> None:
    source: CodeSource = asking(site, tmp_path)
    assert source.name is SnippetSource.STACK_OVERFLOW
    assert source.unavailable() is None


@pytest.mark.parametrize("markdown_only", [False, True])
@pytest.mark.parametrize("old_tags", [False, True])
def test_dump_and_api_give_the_same_rows(site: Site, tmp_path: Path, markdown_only: bool, old_tags: bool) -> None:
    site.markdown_only = markdown_only
    dump = write_dump(tmp_path, POSTS, old_tags=old_tags)
    by_dump, by_api = reading(dump, tmp_path / "a"), asking(site, tmp_path / "b")
    for library in ("pandas", "jquery"):
        rows = find_samples(by_dump, library)
        assert find_samples(by_api, library) == rows
        assert any(isinstance(row, CodeSample) for row in rows)
        assert any(isinstance(row, Reject) for row in rows)


def test_every_block_for_which_a_version_is_named_is_a_row_or_a_reject(tmp_path: Path) -> None:
    rows = find_samples(reading(write_dump(tmp_path, POSTS), tmp_path))
    versions = {
        (r.place, r.text.splitlines()[-1]): (r.version, r.version_statement) for r in rows if isinstance(r, CodeSample)
    }
    assert versions == {
        ("100", "pd.DataFrame().append([1])"): (
            "1.3.0",
            "question 100: pandas 1.3 (newest of the series on 2021-09-01)",
        ),
        ("100/101", "pd.concat([a, b])"): ("2.0.0", "answer 101: Since 2.0 (newest of the series on 2023-05-01)"),
        ("100/101", "a.append(b)"): ("1.3.5", "answer 101: pandas==1.3.5"),
        ("100/102", "a.append(b)"): ("1.3.0", "question 100: pandas 1.3 (newest of the series on 2021-09-01)"),
        ("140", "df.iteritems()"): ("2.0.3", "title of 140: pandas 2.0.3"),
    }
    refused = {r.key: (r.reason, r.detail) for r in rows if isinstance(r, Reject)}
    assert refused == {
        "110/111:2": (
            RejectReason.VERSION_UNKNOWN,
            "answer 111: several versions are named: “pandas 0.25”; “pandas 0.25 and 1.0”",
        ),
        "110/112:2": (RejectReason.VERSION_NOT_COVERED, "answer 112: “pandas 5.0”: no release of 5.0"),
        "110/112:4": (RejectReason.NO_USE, "the block says that it is written in sql, not python"),
    }


def test_a_row_has_author_and_licence(tmp_path: Path) -> None:
    answer = next(
        r
        for r in find_samples(reading(write_dump(tmp_path, POSTS), tmp_path))
        if isinstance(r, CodeSample) and r.place == "100/101"
    )
    assert replace(answer, text="", version_statement="") == CodeSample(
        source=SnippetSource.STACK_OVERFLOW,
        library="pandas",
        version="2.0.0",
        version_evidence=VersionEvidence.TEXT,
        version_statement="",
        origin="stack_overflow:100",
        place="100/101",
        url="https://stackoverflow.com/a/101",
        file="",
        line=2,
        text="",
        language=Language.PYTHON,
        created_time=day(2023, 5),
        licence="CC-BY-SA-4.0",
        attribution='“Why does "append" warn?” on Stack Overflow, answer by Bo <b> Example (https://stackoverflow.com/users/22),'
        " https://stackoverflow.com/a/101, CC BY-SA 4.0 (https://creativecommons.org/licenses/by-sa/4.0/)",
        title='Why does "append" warn?',
        score=-1,
        accepted=True,
    )


def test_without_users_the_number_of_an_author_is_named(tmp_path: Path) -> None:
    rows = find_samples(reading(write_dump(tmp_path, POSTS, users=False), tmp_path))
    authors = {r.place: r.attribution for r in rows if isinstance(r, CodeSample)}
    assert "answer by user22 (https://stackoverflow.com/users/22)" in str(authors["100/101"])
    assert "answer by user1234, https://" in str(authors["100/102"])


def test_code_of_other_languages_has_the_version_in_its_words(tmp_path: Path) -> None:
    assert RULE.foreign["jquery"].language is Language.JAVASCRIPT
    code, output = find_samples(reading(write_dump(tmp_path, POSTS), tmp_path), "jquery")
    assert isinstance(code, CodeSample)
    assert (code.version, code.language, code.line) == ("3.5.1", Language.JAVASCRIPT, 2)
    assert isinstance(output, Reject)
    assert output.reason is RejectReason.BROKEN_EXAMPLE


def test_only_posts_of_the_period_are_rows(site: Site, tmp_path: Path) -> None:
    period = Period(day(2022), day(2023, 6))
    dump = write_dump(tmp_path, POSTS)
    rows = find_samples(reading(dump, tmp_path / "a"), period=period)
    assert [r.place if isinstance(r, CodeSample) else r.key for r in rows] == [
        "100/101",
        "100/101",
        "100/102",
        "110/112:2",
        "110/112:4",
    ]
    assert find_samples(asking(site, tmp_path / "b"), period=period) == rows


def test_the_dump_is_read_once_for_all_libraries(tmp_path: Path) -> None:
    dump = write_dump(tmp_path, POSTS)
    cache = tmp_path / "cache"
    first = find_samples(reading(dump, cache))
    dump.write_bytes(dump.read_bytes().replace(b"pandas", b"PANDAS"))
    changed = find_samples(reading(dump, cache))
    assert first != changed
    stores = sorted(cache.glob("dump-*.sqlite"))
    assert len(stores) == 2
    find_samples(reading(dump, cache), "jquery")
    assert sorted(cache.glob("dump-*.sqlite")) == stores


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "no such file"),
        (b"7z\xbc\xaf\x27\x1c rest", "damaged 7z archive"),
        (b"<html><body>Sign in</body></html>", "no Posts.xml"),
        (b"", "no Posts.xml"),
    ],
)
def test_an_unreadable_dump_is_unavailable_with_a_remedy(tmp_path: Path, content: bytes | None, why: str) -> None:
    path = tmp_path / "Posts.xml"
    if content is not None:
        path.write_bytes(content)
    assert why in str(reading(path, tmp_path).unavailable())


def test_without_dump_or_answer_the_source_is_unavailable(tmp_path: Path) -> None:
    fetcher = Fetcher(timeout_s=1, retries=0)
    source = StackOverflow(fetcher, RULE, tmp_path, libraries=[], api_url="http://127.0.0.1:9/2.3", key="secret")
    why = str(source.unavailable())
    assert "DRIFTLINE_STACK_OVERFLOW_DUMP" in why
    assert "secret" not in why


def test_damaged_rows_are_rejects_of_the_libraries_that_they_may_be_about(tmp_path: Path) -> None:
    dump = write_dump(tmp_path, POSTS)
    whole = find_samples(reading(dump, tmp_path / "a"))
    lines = dump.read_bytes().split(b"\r\n")
    bad = [
        b'  <row Id="7" PostTypeId="1" CreationDate="2021" Body="pandas 1.3" Title="t" Tags="|pandas|" />',
        b'  <row Id="8" PostTypeId="1" Body="pandas 1.3 & b" Title="t" Tags="|pandas|" />',
        b'  <row Id="9" PostTypeId="1" Body="pandas 1.3 \xff" Title="t" Tags="|pandas|" />',
        b'  <row Id="10" PostTypeId="1" Body="unread <" Title="t" Tags="|cobol|" />',
        b"  <row " + b"x" * (RULE.max_post_bytes + 10),
    ]
    dump.write_bytes(b"\r\n".join([*lines[:3], *bad, *lines[3:]]))
    rows = find_samples(reading(dump, tmp_path / "b"))
    rejects = [r for r in rows if isinstance(r, Reject) and r.key.startswith("Posts.xml:")]
    reasons = {r.key: r.reason for r in rejects}
    assert reasons == dict.fromkeys(["Posts.xml:4", "Posts.xml:5", "Posts.xml:6"], RejectReason.UNREADABLE) | {
        "Posts.xml:8": RejectReason.TOO_LARGE
    }
    assert [r for r in rows if r not in rejects] == whole


def test_a_truncated_dump_gives_its_rows_and_a_reject(tmp_path: Path) -> None:
    dump = write_dump(tmp_path, POSTS)
    content = dump.read_bytes()
    dump.write_bytes(content[: content.index(b'<row Id="140"') + 60])
    rows = find_samples(reading(dump, tmp_path))
    rejects = Counter(r.detail.partition(": ")[2][:30] for r in rows if isinstance(r, Reject))
    assert rejects["the file ends in the middle: i"] == 1
    assert "100/101" in {r.place for r in rows if isinstance(r, CodeSample)}


def test_characters_that_xml_does_not_have_are_dropped(tmp_path: Path) -> None:
    dump = write_dump(tmp_path, POSTS)
    whole = find_samples(reading(dump, tmp_path / "a"))
    dump.write_bytes(dump.read_bytes().replace(b"Works for me", b"Works&#x8; for&#xB; me"))
    assert find_samples(reading(dump, tmp_path / "b")) == whole


def test_an_answer_that_comes_before_its_question_is_find_samples(tmp_path: Path) -> None:
    moved = [replace(post, id=90) if post.id == 101 else post for post in POSTS]
    dump = write_dump(tmp_path, sorted(moved, key=lambda post: post.id))
    places = [r.place for r in find_samples(reading(dump, tmp_path)) if isinstance(r, CodeSample)]
    assert places.count("100/90") == 2


def test_an_answer_before_its_question_that_cannot_be_read_is_a_reject(tmp_path: Path) -> None:
    dump = write_dump(tmp_path, POSTS)
    lines = dump.read_bytes().split(b"\r\n")
    bad = b'  <row Id="90" PostTypeId="2" ParentId="100" Body="pandas 1.3 & b" />'
    dump.write_bytes(b"\r\n".join([*lines[:3], bad, *lines[3:]]))
    assert ("Posts.xml:4", RejectReason.UNREADABLE) in [
        (r.key, r.reason) for r in find_samples(reading(dump, tmp_path)) if isinstance(r, Reject)
    ]


PROSE = st.sampled_from(
    [
        "With pandas 1.3:",
        "pandas==1.3.5",
        "Since 2.0 it is gone.",
        "before pandas 1.0",
        "Python 3.7",
        "x &amp; y",
        "pandas",
    ]
).map("<p>{}</p>\n".format)
CODE = st.sampled_from(["a.b()", "pd.__version__\n'1.2.4'", "# pandas 2.0.3\nf()", "x &lt; 1.5", ""]).map(
    "<pre><code>{}\n</code></pre>\n".format
)
BODY = st.lists(PROSE | CODE, max_size=6).map("".join)
THREADS = st.lists(
    st.tuples(
        BODY,
        st.lists(BODY, max_size=3),
        st.sampled_from(["T", "In pandas 1.2.4", "of pandas"]),
        st.sampled_from([("pandas",), ("python",), ("python", "pandas-1.x"), ("java",), ("pandas", "pandas-2.0")]),
        st.integers(2019, 2024),
    ),
    max_size=4,
)


def posts_of(threads: list[tuple[str, list[str], str, tuple[str, ...], int]]) -> list[Written]:
    posts: list[Written] = []
    for question, answers, title, tags, year in threads:
        number = len(posts) + 1
        posts.append(Written(number, "", question, day(year), title=title, tags=tags))
        posts += [
            Written(number + place, "", text, day(year + place), parent=number, edited=day(year + 2 * place))
            for place, text in enumerate(answers, 1)
        ]
    return posts


@settings(max_examples=20)
@given(THREADS, st.none() | st.integers(2019, 2024), st.none() | st.integers(2019, 2026))
def test_any_posts_give_the_same_rows_by_dump_and_by_api(
    tmp_path_factory: pytest.TempPathFactory,
    threads: list[tuple[str, list[str], str, tuple[str, ...], int]],
    since: int | None,
    until: int | None,
) -> None:
    folder = tmp_path_factory.mktemp("posts")
    posts = posts_of(threads)
    period = Period(day(since) if since else None, day(until) if until else None)
    with serve(Site(posts)) as site:
        by_api = find_samples(asking(site, folder / "api"), period=period)
    by_dump = find_samples(reading(write_dump(folder, posts), folder / "dump"), period=period)
    assert by_api == by_dump
    keys = [row.place if isinstance(row, CodeSample) else row.key.rpartition(":")[0] for row in by_dump]
    assert keys == sorted(keys, key=lambda key: [int(part) for part in key.split("/")])
