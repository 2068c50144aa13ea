"""No credential that the process knows is kept or shown, and an index's sign-in goes to its own origin alone."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pytest

from pipeline.core import credentials
from pipeline.core.credentials import CUT, cut, cut_bytes, cut_message, cut_table
from pipeline.index.http import Fetcher, Unreachable
from pipeline.index.index import project
from pipeline.lake.runner import write_json
from pipeline.lake.tables import Lake
from tests.cli.command import Driftline, driftline
from tests.demo_library import publish_demo
from tests.errors import raises
from tests.index_server import Index, Reply, serve

KEY = 'sk-ant-03/a+b="c"&ü'
USER, PASSWORD = "ada", "p@55/wörd"
SIGN_IN = f"{USER}:{PASSWORD}"


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "_addresses", set())


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return KEY


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        quote(KEY),
        quote(KEY, safe=""),
        html.escape(KEY),
        json.dumps(KEY)[1:-1],
        json.dumps(KEY, ensure_ascii=False)[1:-1],
        *(base64.b64encode(b"x" * offset + KEY.encode()).decode() for offset in range(3)),
        base64.urlsafe_b64encode(f"x-api-key:{KEY}".encode()).decode(),
    ],
)
def test_a_key_is_cut_in_every_form(key: str, form: str) -> None:
    found = cut(f"you sent <{form}>")
    assert CUT in found
    assert not any(form[start : start + 16] in found for start in range(len(form) - 15))
    assert cut_bytes(f"\xff{form}".encode()) != f"\xff{form}".encode()


@pytest.mark.parametrize("variable", ["DRIFTLINE_INDEX_URL", "DRIFTLINE_REVIEWS", "HTTPS_PROXY"])
def test_the_password_of_an_address_is_cut_with_and_without_it(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, f"https://{USER}:{quote(PASSWORD, safe='')}@host/simple")
    header = base64.b64encode(SIGN_IN.encode()).decode()
    for text in (PASSWORD, quote(PASSWORD, safe=""), header):
        assert cut(f"not let in: {text}") == f"not let in: {CUT}"


def test_a_word_is_a_password_only_where_it_stands_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_REVIEWS", "postgresql+psycopg://airflow:airflow@db/reviews")
    assert cut("import airflow") == "import airflow"
    assert cut_message("no answer from postgresql+psycopg://airflow:airflow@db/reviews").endswith("://db/reviews")
    assert cut(base64.b64encode(b"airflow:airflow").decode()) == CUT


def test_secrets_in_files_and_of_clients_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "driftline_rates").write_text("redis://:f1le-secret@host/0\n")
    (tmp_path / ".netrc").write_text("machine host login ada password netrc-secret\n")
    (tmp_path / "hub").write_text("hf_0123456789\n")
    (tmp_path / "aws").write_text("[default]\naws_access_key_id = AKIA0\naws_secret_access_key = aws/secret+1\n")
    for name, place in {
        "DRIFTLINE_SECRETS": tmp_path,
        "NETRC": tmp_path / ".netrc",
        "HF_TOKEN_PATH": tmp_path / "hub",
        "AWS_SHARED_CREDENTIALS_FILE": tmp_path / "aws",
    }.items():
        monkeypatch.setenv(name, str(place))
    assert cut("f1le-secret netrc-secret hf_0123456789 aws/secret+1") == " ".join([CUT] * 4)


def test_signatures_and_foreign_passwords_in_addresses_are_cut_from_messages_and_not_from_code() -> None:
    code = "requests.get('https://user:pass@host/x?api_key=abc')"
    assert cut(code) == code
    assert cut_message(code) == f"requests.get('https://host/x?api_key={CUT}')"
    told = cut_message("https://bucket/x?X-Amz-Signature=0a1b&X-Amz-Expires=60: status 403")
    assert told == f"https://bucket/x?X-Amz-Signature={CUT}&X-Amz-Expires=60: status 403"


def test_what_is_kept_holds_no_key_at_any_depth(key: str, tmp_path: Path) -> None:
    table = pa.table(
        {
            "text": pa.array([key, None, "plain"]),
            "list": pa.array([["plain", key, None], None, []], pa.list_(pa.string())),
            "struct": pa.array([{"a": [key], "b": 1}, None, {"a": None, "b": 2}]),
        }
    )
    found = cut_table(table)
    assert found.schema == table.schema
    assert found.to_pylist() == [
        {"text": CUT, "list": ["plain", CUT, None], "struct": {"a": [CUT], "b": 1}},
        {"text": None, "list": None, "struct": None},
        {"text": "plain", "list": [], "struct": {"a": None, "b": 2}},
    ]
    assert cut_table(table.slice(1)).to_pylist() == table.slice(1).to_pylist()
    row = {"stage": "drafting", "library": "demo", "key": "k", "reason": "draft_refused", "detail": f"no: {key}"}
    lake = Lake(tmp_path)
    lake.write("rejects", "demo", [row], part="drafting")
    assert lake.read("rejects", "demo")[0]["detail"] == f"no: {CUT}"
    write_json(tmp_path / "failure.json", {"error": key})
    assert json.loads((tmp_path / "failure.json").read_text()) == {"error": CUT}


@pytest.fixture
def private() -> Iterator[Index]:
    """An index that wants a sign-in, with a file on its own host by a whole address."""
    with serve(Index(sign_in=SIGN_IN)) as index:
        publish_demo(index)
        index.files_at = index.url
        yield index


def signed(index: Index) -> str:
    return index.simple.replace("://", f"://{USER}:{quote(PASSWORD, safe='')}@")


def test_a_file_on_the_host_of_the_index_is_asked_for_with_its_sign_in(private: Index) -> None:
    fetcher = Fetcher(timeout_s=5, retries=0)
    known = project(fetcher, signed(private), "demo")
    file = next(file for files in known.releases.values() for file in files)
    assert file.url.startswith(f"{private.url}/files/"), "what is kept has no credentials"
    assert fetcher.get(file.url).content
    with raises(Unreachable, "401", "DRIFTLINE_INDEX_URL", code="sign_in_needed"):
        fetcher.get(file.url.replace("127.0.0.1", "localhost"))
    assert private.authorizations[-1] == ""


def test_no_other_host_gets_the_sign_in_of_the_index(private: Index, index: Index) -> None:
    publish_demo(index)
    private.files_at = index.url
    fetcher = Fetcher(timeout_s=5, retries=0)
    known = project(fetcher, signed(private), "demo")
    file = next(file for files in known.releases.values() for file in files)
    assert fetcher.get(file.url).content
    page = f"{private.url}/files/{file.filename}"
    private.twists = {
        f"/files/{file.filename}": [lambda reply: replace(reply, status=302, headers={"Location": file.url})]
    }
    assert fetcher.get(page).content
    assert index.authorizations == ["", ""]


@pytest.mark.parametrize("documents", [True, False])
def test_commands_work_at_such_an_index_and_leave_no_trace_of_the_sign_in(
    private: Index,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    documents: bool,
) -> None:
    private.documents = documents
    run: Driftline = driftline(monkeypatch, capsys)
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", signed(private))
    monkeypatch.setenv("DRIFTLINE_WORKERS", "1")
    told = [run("diff", "demo", "1.0", "1.1"), run("history", "demo", "demo.greet")]
    assert [result.status for result in told] == [0, 0], told
    private.sign_in = "another:user"
    told += [run("history", "demo", "demo.greet"), run("diff", "demo", "1.0", "1.1"), run("doctor")]
    secrets = [PASSWORD, quote(PASSWORD, safe=""), base64.b64encode(SIGN_IN.encode()).decode()]
    for result in told:
        assert not any(secret in result.text for secret in secrets), result.text
    for path in data.rglob("*"):
        if path.is_file():
            assert not any(secret.encode() in path.read_bytes() for secret in secrets), path


def test_an_answer_that_repeats_the_sign_in_is_cut(private: Index) -> None:
    header = base64.b64encode(SIGN_IN.encode()).decode()
    private.twists = {"/pypi/demo/json": [lambda reply: Reply(200, {}, json.dumps({"releases": header}).encode())]}
    credentials.remember(signed(private))
    assert Fetcher(timeout_s=5, retries=0).get_json(f"{private.url}/pypi/demo/json") == {"releases": CUT}
