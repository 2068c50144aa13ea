"""An annotator's session in a real browser, by keyboard alone; and whether the page can be read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from pipeline.core.vocabularies.annotation import DecisionKind, Objection, QueueStatus
from pipeline.quality.annotation.decisions import NewDecision, decide
from pipeline.quality.annotation.pace import pace
from pipeline.quality.annotation.queue import look, open_sample
from tests.quality.annotation.web.browser import Served, chromium, page_of, picture, served

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A queue that is only looked at."""
    with served(tmp_path_factory.mktemp("seen")) as made:
        yield made


@pytest.fixture
def queue(tmp_path) -> Iterator[Served]:
    with served(tmp_path) as made:
        yield made


def pending(page: Page) -> int:
    return int(page.locator("[data-count=pending]").inner_text())


def at(page: Page, sample_id: str) -> None:
    page.wait_for_url(f"**/samples/{sample_id}*")
    expect(page.locator("#accept")).to_be_enabled()


def keys(page: Page, *strokes: str) -> None:
    for stroke in strokes:
        page.keyboard.press(stroke)


def standing(queue: Served, number: int) -> tuple[DecisionKind, Objection | None] | None:
    history = look(queue.store, queue.ids[number], None).history
    return next(((step.kind, step.objection) for step in history if step.counts), None)


def test_a_session_by_keyboard_alone(browser, queue, capsys):
    with page_of(browser) as page:
        page.goto(queue.address)
        expect(page).to_have_url(f"{queue.base}/")
        assert pending(page) == 12

        keys(page, "f")
        page.keyboard.type("rename")
        keys(page, "Control+Enter")
        page.wait_for_url("**flag=rename_unsure*")
        assert page.locator("#rows tbody tr").count() == 8
        picture(page, "queue")

        keys(page, "n")
        at(page, queue.ids[0])
        picture(page, "completion")
        keys(page, "m")
        expect(page.locator("body.masks-closed")).to_be_visible()
        keys(page, "a")
        at(page, queue.ids[1])
        assert pending(page) == 7
        assert standing(queue, 0) == (DecisionKind.ACCEPT, None)

        keys(page, "r")
        expect(page.locator("#reasons")).to_be_visible()
        picture(page, "reject")
        keys(page, "7")
        at(page, queue.ids[2])
        assert standing(queue, 1) == (DecisionKind.REJECT, list(Objection)[6])

        keys(page, "u")
        at(page, queue.ids[1])
        assert pending(page) == 7
        assert standing(queue, 1) is None

        edit(page, "Multiply every value by ten, which is broken.")
        expect(page.locator("#validation")).to_contain_text("It does not count: in 2.1.0 it ends with")
        expect(page.locator("#validation-log")).to_contain_text("AssertionError")
        picture(page, "edit_failed")
        assert look(queue.store, queue.ids[1], None).entry.status == QueueStatus.DRAFT
        page.locator("textarea[name=description]").focus()
        keys(page, "Control+a")
        page.keyboard.type("Multiply every value by ten.")
        keys(page, "Control+Enter")
        expect(page.locator("#validation")).to_have_text("It passed: the edit counts.")
        picture(page, "edit")
        assert look(queue.store, queue.ids[1], None).entry.status == QueueStatus.SUBMITTED
        keys(page, "Control+ArrowRight")
        at(page, queue.ids[2])
        assert pending(page) == 6

        keys(page, "c")
        page.keyboard.type("is that so? (a, r, s)")
        keys(page, "Control+Enter")
        expect(page.locator("#history + ol")).to_contain_text("is that so? (a, r, s)")
        assert standing(queue, 2) is None
        keys(page, "s")
        at(page, queue.ids[3])
        assert standing(queue, 2) == (DecisionKind.SKIP, None)

        keys(page, "Shift+?")
        expect(page.locator("#legend")).to_be_visible()
        picture(page, "keys")
        remap(page, "accept", "y")
        keys(page, "Escape")
        expect(page.locator("#accept > kbd")).to_have_text("y")
        keys(page, "a")
        page.wait_for_timeout(200)
        assert standing(queue, 3) is None
        keys(page, "y")
        at(page, queue.ids[4])
        assert standing(queue, 3) == (DecisionKind.ACCEPT, None)

        keys(page, "l")
        page.wait_for_url("**/like/**")
        expect(page.locator("#rows tbody tr")).to_have_count(5)
        picture(page, "like")
        keys(page, "j", "x", "Shift+a")
        expect(page.locator("#sure-text")).to_have_text("accept: 4 samples?")
        keys(page, "y")
        expect(page.locator("#message")).to_contain_text("4 decided")

        keys(page, "q")
        page.wait_for_url(f"{queue.base}/?flag=rename_unsure")
        assert pending(page) == 1
        keys(page, "Shift+f")
        page.wait_for_url(f"{queue.base}/")
        assert pending(page) == 5
        keys(page, "Shift+x", "Shift+r")
        expect(page.locator("#reasons")).to_be_visible()
        keys(page, "1")
        expect(page.locator("#sure-text")).to_have_text("reject (wrong version): 12 samples?")
        keys(page, "Escape")
        assert pending(page) == 5
        keys(page, "j", "j", "Enter")
        at(page, queue.ids[1])
        keys(page, "g")
        page.wait_for_url("**/agreement")
        expect(page.locator("main")).to_contain_text("Nothing was judged by two people yet.")
    measured = pace(queue.store)
    assert measured.timed >= 4
    with capsys.disabled():
        print(f"\nmedian of the scripted session: {measured.median_s:.2f} s per decision")


def edit(page: Page, text: str) -> None:
    keys(page, "e")
    expect(page.locator("textarea[name=description]")).to_be_focused()
    expect(page.locator("#accept")).to_be_disabled()
    keys(page, "Control+a")
    page.keyboard.type(text)
    keys(page, "Control+Enter")


def remap(page: Page, action: str, key: str) -> None:
    title = page.locator(f"[data-action={action}]").get_attribute("data-title")
    page.get_by_label(f"change the key of: {title}", exact=True).focus()
    keys(page, "Enter", "s")
    expect(page.locator("#legend")).to_contain_text("s is taken: leave it to somebody else")
    keys(page, key)


def test_a_sample_leased_by_another_cannot_be_decided(browser, queue):
    open_sample(queue.store, queue.ids[0], "bob")
    with page_of(browser) as page:
        page.goto(queue.address)
        keys(page, "n")
        at(page, queue.ids[1])
        page.goto(f"{queue.base}/samples/{queue.ids[0]}")
        expect(page.locator("#held")).to_contain_text("bob has this sample open")
        expect(page.locator("#accept")).to_be_disabled()
        keys(page, "a")
        page.wait_for_timeout(200)
        assert standing(queue, 0) is None


def test_two_annotators_disagree(browser, tmp_path):
    accept, reject = NewDecision(DecisionKind.ACCEPT), NewDecision(DecisionKind.REJECT, Objection.BAD_TESTS)
    with served(tmp_path, twice=1.0) as queue, page_of(browser) as page:
        for number, (first, second) in enumerate(
            [(accept, accept)] * 5 + [(reject, reject)] * 2 + [(accept, reject)] * 2
        ):
            decide(queue.store, queue.ids[number], "bob", first)
            decide(queue.store, queue.ids[number], "eve", second)
        page.goto(queue.address)
        keys(page, "g")
        page.wait_for_url("**/agreement")
        expect(page.locator("#kappa")).to_have_text("0.53")
        picture(page, "agreement")
        keys(page, "j", "Enter")
        at(page, queue.ids[7])
        expect(page.locator("#history + ol")).to_contain_text("eve: reject, bad tests")
        keys(page, "a")
        at(page, queue.ids[9])
        assert look(queue.store, queue.ids[7], None).entry.status == QueueStatus.SUBMITTED


def test_a_failure_is_reported(browser, queue):
    with page_of(browser) as page:
        page.goto(queue.address)
        keys(page, "u")
        expect(page.locator("#message")).to_have_text("there is nothing to undo")
        page.goto(f"{queue.base}/samples/{queue.ids[0]}")
        at(page, queue.ids[0])
        keys(page, "e", "Control+Enter")
        expect(page.locator("#validation")).to_contain_text("the edit changes nothing")
        keys(page, "Escape", "r", "c")
        expect(page.locator("#message")).to_contain_text("the comment is empty")


def test_the_first_key_after_the_editor_is_no_text(browser, queue):
    with page_of(browser) as page:
        page.goto(queue.address)
        page.goto(f"{queue.base}/samples/{queue.ids[0]}")
        at(page, queue.ids[0])
        keys(page, "e")
        assert page.evaluate("document.activeElement.closest('form')?.id") == "edit"
        # In one go: a browser takes the focus from what is hidden only when it draws again.
        close = "document.getElementById('close-edit').click(), document.activeElement.tagName"
        assert page.evaluate(close) == "BODY"


# Of each visible text: its colour on the first ground under it that is not transparent. WCAG 2.2, contrast (minimum).
CONTRASTS = """
() => {
  const read = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b]
    .map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = read(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || ["SCRIPT", "OPTION"].includes(element.tagName)) continue;
    const [a, b] = [read(getComputedStyle(element).color), ground(element)].map(luminance).sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), element.tagName + "." + element.className, element.textContent.trim().slice(0, 40)]);
  }
  return found;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_every_view_can_be_read(browser, seen, width, scheme):
    with page_of(browser, width, 1700 if width > 1000 else 800, scheme) as page:
        page.goto(seen.address)
        for name, path in {
            "queue": "/",
            "completion": f"/samples/{seen.ids[0]}",
            "migration": f"/samples/{seen.ids[8]}",
            "like": f"/like/{seen.ids[8]}",
            "agreement": "/agreement",
        }.items():
            page.goto(seen.base + path)
            page.wait_for_load_state("networkidle")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is wider than its window"
            for opening in ("", "?", "r", "e"):
                if opening in {"r", "e"} and name not in {"completion", "migration"}:
                    continue
                if opening:
                    keys(page, opening)
                check_contrast(page, f"{name} {opening}")
                if opening:
                    keys(page, "Escape")
            if name in {"queue", "migration"}:
                picture(page, f"{name}_{scheme}_{'wide' if width > 1000 else 'narrow'}")


def check_contrast(page: Page, where: str) -> None:
    result = page.evaluate(CONTRASTS)
    assert len(result) > 20
    poor = [(round(ratio, 2), *what) for ratio, *what in result if ratio < 4.5]
    assert poor == [], where


def test_every_button_names_its_key(browser, seen):
    with page_of(browser) as page:
        page.goto(seen.address)
        for path in ("/", f"/samples/{seen.ids[8]}", f"/like/{seen.ids[8]}", "/agreement"):
            page.goto(seen.base + path)
            for button in page.locator("[data-action]").all():
                assert button.locator("> kbd").text_content() == button.get_attribute("data-key")
                assert button.get_attribute("data-title")
            for button in page.locator("header button, header a, .bar button, .decide button, .decide a").all():
                if button.is_visible() and button.get_attribute("id") != "default-keys":
                    assert button.get_attribute("data-key"), button.inner_text()


def test_scripts_in_a_sample_do_not_run(browser, queue):
    with page_of(browser) as page:
        page.goto(queue.address)
        said = {
            "kind": "comment",
            "comment": "<img src=x onerror='document.title=\"run\"'><script>document.title='run'</script>",
        }
        page.goto(f"{queue.base}/samples/{queue.ids[0]}")
        at(page, queue.ids[0])
        keys(page, "c")
        page.keyboard.type(said["comment"])
        keys(page, "Control+Enter")
        expect(page.locator("#history + ol")).to_contain_text("onerror")
        assert page.title() != "run"
