"""Text from outside is shown as text: on the terminal, in logs, in JSON; and the report's page is framed by nobody else."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from rich.text import Text

from pipeline.cli import output
from pipeline.core.logs import log_to
from pipeline.core.printable import one_line, printable, printable_json
from pipeline.orchestration.report.plugin import HEADERS, guarded

EVIL = "a\x1b[31mred\x1b]0;title\x07\x9b2J\u202eb\r\x00é☃\U000e0041\ud800"
SHOWN = r"a\x1b[31mred\x1b]0;title\x07\x9b2J\u202eb\r\x00é☃\U000e0041\ud800"


@pytest.fixture
def _as_before() -> Iterator[None]:
    level = logging.getLogger().level
    yield
    log_to(io.StringIO(), "off")
    logging.getLogger().setLevel(level)


def test_what_cannot_be_seen_is_written_as_its_escape() -> None:
    assert printable(EVIL) == SHOWN
    assert printable("two\nlines\tof é") == "two\nlines\tof é"
    assert one_line("two\nlines") == r"two\nlines"
    assert printable_json(json.dumps({"a": EVIL}, ensure_ascii=False, indent=1)).isascii() is False
    told = printable_json(json.dumps({"a": EVIL}, ensure_ascii=False, indent=1))
    assert json.loads(told) == {"a": EVIL}
    assert all(one.isprintable() or one == "\n" for one in told)


def test_the_console_obeys_nothing_from_outside(capsys: pytest.CaptureFixture[str]) -> None:
    output.out.print(EVIL, markup=False)
    output.out.print(Text(EVIL, "bold"))
    output.print_table(EVIL, (EVIL,), [(EVIL,)])
    output.print_json({"a": EVIL})
    output.notify(EVIL)
    written = capsys.readouterr()
    for text in (written.out, written.err):
        assert "red" in text
        assert all(one.isprintable() or one == "\n" for one in text)


@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_log_line_stays_one_and_holds_no_escape(form: str) -> None:
    stream = io.StringIO()
    log_to(stream, form)  # type: ignore[arg-type]
    # half of a surrogate pair is in no log that pytest keeps: its workers could not send it on
    evil = EVIL.removesuffix("\ud800")
    logging.getLogger("pipeline.test").info("read %s", f"{evil}\n2026-11-25 error forged")
    (line,) = stream.getvalue().splitlines()
    assert all(one.isprintable() for one in line)
    if form == "json":
        assert json.loads(line)["event"] == f"read {evil}\n2026-11-25 error forged"


def test_the_page_of_a_report_is_for_airflow_alone() -> None:
    app = guarded(FastAPI())

    @app.get("/{run}")
    def page(run: str) -> str:
        return run

    client = TestClient(app)
    for path in ("/run", "/no/such/page"):
        answer = client.get(path)
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "frame-ancestors 'self'" in HEADERS["Content-Security-Policy"]
    assert client.get("/run", headers={"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}).status_code == 200
    assert client.get("/run", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200
    embedded = client.get("/run", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"})
    assert (embedded.status_code, embedded.headers["X-Content-Type-Options"]) == (403, "nosniff")
