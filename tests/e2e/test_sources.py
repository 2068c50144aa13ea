"""A refresh that asks all four sources, each behind a server on loopback, from what they say to the snapshot."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.audit.rebuild.sample import Draw, rebuild_sample
from pipeline.core.settings import PROJECT
from pipeline.core.vocabularies.snapshots import Rebuilding
from pipeline.lake.tables import read_parquet
from pipeline.orchestration.publishing.publish_snapshot import publish_refresh
from pipeline.orchestration.refresh import Refresh, counts_of, left_out, plan, run_group
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.snapshots.snapshot import Published
from pipeline.snapshots.verify import verify
from tests.corpus.documentation.builders import listing, version
from tests.corpus.documentation.site_server import Pages, inventory
from tests.corpus.documentation.site_server import served as serve_pages
from tests.corpus.github.hub import TOKEN, Hub
from tests.corpus.github.hub import serve as serve_hub
from tests.corpus.stack_overflow.site import Site, Written
from tests.corpus.stack_overflow.site import serve as serve_posts
from tests.demo_library import publish_demo
from tests.index_server import Index, sdist, serve

pytestmark = pytest.mark.slow

DAY = datetime(2021, 3, 15, tzinfo=UTC)

DEPENDENT = """\
import demo

from user.lines import join


def welcome(people):
    lines = [demo.greet(person) for person in people]
    return join(lines)
"""
BANNER = """\
from demo import make_loud

from user.lines import join


def banner(name, title=make_loud("welcome")):
    return join([title, name])
"""
APPLICATION = """\
from demo import total


def bill(prices):
    # the total of all prices
    return total(prices) + 1
"""
POST = """<p>In demo 1.2 you can do</p>
<pre class="lang-py"><code>import demo
values = [1, 2]
print(demo.summed(values))
</code></pre>"""
JAVA_POST = """<p>With guava 18.0:</p>
<pre class="lang-java"><code>import com.google.common.collect.ImmutableList;

List&lt;String&gt; names = ImmutableList.of("a", "b");
names.forEach(System.out::println);
</code></pre>"""
PAGE = """<html><body><main><section id="guide"><h1>Guide</h1>
<div class="highlight-python"><pre>import demo
text = demo.make_louder("hey")
print(text)
</pre></div></section>
<dl class="py function"><dt class="sig sig-object py" id="demo.summed">
<span class="sig-prename descclassname">demo.</span><span class="sig-name descname">summed</span>
<span class="sig-paren">(</span><em class="sig-param">numbers</em><span class="sig-paren">)</span></dt>
<dd><p>All of them together.</p></dd></dl></main></body></html>"""


def posts() -> Site:
    """A question on demo 1.2 with its answer, and one on a library of Java."""
    asked = Written(1, "How?", "<p>How?</p>", DAY, title="Add numbers with demo", tags=("demo", "python"), accepted=2)
    java = Written(3, "How?", "<p>How?</p>", DAY, title="Make a list", tags=("guava", "java"))
    return Site([asked, Written(2, "", POST, DAY, parent=1), java, Written(4, "", JAVA_POST, DAY, parent=3)])


def documentation(pages: Pages) -> None:
    """Read the Docs with one version of demo, and the site of that version."""
    site = version("v2.0") | {"urls": {"documentation": f"{pages.url}/en/v2.0/", "vcs": None}}
    pages.put_json("/api/v3/projects/demo/versions/?active=true&built=true&limit=100", listing(site))
    pages.put_json("/api/v3", {})
    entries = ["demo.summed py:function 1 guide.html#$ -", "guide std:doc -1 guide.html Guide"]
    pages.put("/en/v2.0/objects.inv", inventory(entries, "2.0", "demo"), Content_Type="application/octet-stream")
    pages.put("/en/v2.0/guide.html", PAGE)


def rules(root: Path) -> Path:
    """The rule files that ship, but for which dependents, sites and libraries are looked at."""
    folder = shutil.copytree(PROJECT / "curation_rules", root / "rules")
    for name, told in (
        ("dependents", {"seeds": {"demo": ["user"]}}),
        ("documentation", {"sites": [{"library": "demo", "read_the_docs": "demo"}]}),
        ("profiles/starter", {"libraries": ["demo", "guava"], "code": {}}),
    ):
        path = folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | told))
    return folder


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The settings under which every source answers."""
    hub = Hub()
    hub.add("ada/app", topics=("demo",), stars=50).commit(
        "2021-03-20T00:00:00Z", {"requirements.txt": "demo==1.1\n", "app/bill.py": APPLICATION}
    )
    with ExitStack() as stack:
        index = stack.enter_context(serve(Index()))
        publish_demo(index)
        setup = {"setup.py": "setup(name='user', install_requires=['demo>=1.0'])"}
        early = setup | {"user/__init__.py": DEPENDENT, "user/banner.py": BANNER}
        index.add("user", "1.0", sdist("user", "1.0", early), "2021-02-10T00:00:00Z")
        late = setup | {"user/banner.py": BANNER.replace("make_loud", "make_louder")}
        index.add("user", "1.1", sdist("user", "1.1", late), "2021-04-10T00:00:00Z")
        pages = stack.enter_context(serve_pages())
        documentation(pages)
        root = tmp_path_factory.mktemp("world")
        yield {
            "DRIFTLINE_INDEX_URL": index.simple,
            "DRIFTLINE_GITHUB_URL": stack.enter_context(serve_hub(hub)).url,
            "GITHUB_TOKEN": TOKEN,
            "DRIFTLINE_STACK_EXCHANGE_URL": stack.enter_context(serve_posts(posts())).url,
            "DRIFTLINE_READ_THE_DOCS_URL": f"{pages.url}/api/v3",
            "DRIFTLINE_RULES": str(rules(root)),
            "DRIFTLINE_DATA": str(root / "data"),
        }


def refresh(monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], run: str) -> tuple[Refresh, Published]:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    asked = Refresh(run=run)
    for library in plan(asked):
        for group in GROUPS:
            run_group(asked, group, library)
    return asked, publish_refresh(asked)


@pytest.fixture(scope="module")
def published(world: dict[str, str]) -> Iterator[Published]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        asked, made = refresh(monkeypatch, world, "first")
        assert left_out(asked) == {}
        yield made


def rows(published: Published, table: str) -> list[Any]:
    return read_parquet(published.path / "data" / f"{table}.parquet")


def test_every_source_gives_completions_with_the_version_they_are_for(published: Published) -> None:
    assert verify(published.path) == []
    found = {
        (row["source"], row["version"], row["version_evidence"], row["path"], row["origin"])
        for row in rows(published, "completions")
        if row["source"] != "docstring"
    }
    assert found == {
        ("downstream", "1.1", "dependency_matrix", "demo.greet", "pypi:user"),
        ("github", "1.1", "exact_pin", "demo.total", "github:ada/app"),
        ("stack_overflow", "1.2", "text", "demo.summed", "stack_overflow:1"),
        ("documentation", "2.0", "release_artifact", "demo.make_louder", "documentation:demo"),
        # Programs written from the changes: of what went in its last release, of what came in its first. Of `summed` and
        # `total` the docstring shows a longer program with the same answer, and that one is published.
        ("change", "1.1", "release_artifact", "demo.make_loud", "pypi:demo"),
        ("change", "1.2", "release_artifact", "demo.make_louder", "pypi:demo"),
        ("change", "1.2", "release_artifact", "demo.wrong", "pypi:demo"),
        ("change", "1.2", "release_artifact", "demo.greet", "pypi:demo"),
        ("change", "2.0", "release_artifact", "demo.greet", "pypi:demo"),
    }


def test_what_can_run_alone_has_run_and_of_the_rest_the_api_was_probed(published: Published) -> None:
    outcomes = {(row["source"], row["reference_outcome"]) for row in rows(published, "completions")}
    assert outcomes == {
        ("docstring", "passed"),
        ("stack_overflow", "passed"),
        ("documentation", "passed"),
        ("change", "passed"),
        ("downstream", None),
        ("github", None),
    }


def test_a_dependent_that_moved_is_a_migration_which_can_be_made_again(
    published: Published, world: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = {row["id"]: row for row in rows(published, "rewrites")}
    moved = {row["direction"]: row for row in rows(published, "migrations") if row["basis"] == "dependent_changed"}
    sides = [(row["version"], row["target_version"], row["source_in_target"]) for row in moved.values()]
    assert sides == [("1.1", "2.0", "api_missing")]
    up = moved["old_to_new"]
    assert up["target_code"] == up["source_code"].replace("make_loud", "make_louder")
    assert [edit["new"] for edit in written[up["source_rewrite_id"]]["edits"]] == ["user", "user.lines"]
    for name, value in world.items():
        monkeypatch.setenv(name, value)
    again = {
        each.row_id: each for each in rebuild_sample(published.path, Draw(1000)).results if each.config == "migrations"
    }
    assert {again[row["id"]].outcome for row in moved.values()} == {Rebuilding.SAME}


def test_code_of_another_language_is_a_block_completion(published: Published) -> None:
    (row,) = rows(published, "block_completions")
    told = [row[column] for column in ("library", "version", "language", "core_token", "description", "url")]
    assert told == ["guava", "18.0", "java", "ImmutableList", "Make a list", "https://stackoverflow.com/a/4"]
    assert row["masked_code"].startswith("import com.google.common.collect.[token-mask];")


def test_a_site_stands_in_place_of_the_docstring(published: Published) -> None:
    documents = {
        (row["path"], row["source"]) for row in rows(published, "api_documents") if row["last_version"] is None
    }
    assert documents == {
        ("demo", "docstring"),
        ("demo.greet", "docstring"),
        ("demo.make_louder", "docstring"),
        ("demo.summed", "site"),
    }


def test_comments_that_tell_the_answer_are_left_out(published: Published) -> None:
    (snippet,) = (row for row in rows(published, "snippets") if row["source"] == "github")
    assert "# the total" not in snippet["code"]
    assert snippet["comments_removed"] == 1


def test_attribution_names_whom_each_source_asks_to_name(published: Published) -> None:
    text = (published.path / "ATTRIBUTION.md").read_text()
    for told in ("ada/app", "https://stackoverflow.com/a/2", "CC-BY-SA-4.0", "Ada O'Neil", "pkg:pypi/user@1.0"):
        assert told in text, told


def test_asking_again_changes_nothing(
    published: Published, world: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, again = refresh(monkeypatch, world, "second")
    assert (again.path, again.manifest_sha256, again.written) == (published.path, published.manifest_sha256, False)
    assert all(count.unchanged == count.units_in for count in counts_of(asked))


def test_sources_out_of_reach_are_left_out_and_keep_what_they_gave(
    published: Published, world: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = dict.fromkeys(("DRIFTLINE_STACK_EXCHANGE_URL", "DRIFTLINE_READ_THE_DOCS_URL"), "http://127.0.0.1:1/x")
    asked, again = refresh(monkeypatch, world | nobody | {"GITHUB_TOKEN": ""}, "third")
    assert again.path == published.path
    assert set(left_out(asked)) == {"documentation", "github", "stack_overflow"}
