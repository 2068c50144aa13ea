"""`driftline evaluate` against a scripted endpoint on loopback, from a snapshot to a report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.evaluation import EndpointProblem, View
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.asking.evaluate import ANSWERS, PREDICTIONS
from pipeline.evaluation.scores.result import FILE, read_result
from tests.chat_server import ChatServer, serving_chat
from tests.cli.command import Driftline, Result
from tests.cli.scoring.views import BAD_VIEWS
from tests.evaluation.export.columns import TIME
from tests.model_server import KEY, Fault

SETTING = "versicode-completion"
RIGHT = {"token": "load", "line": "page = lib.load('a')", "block": "page = lib.load('a')\nprint(page)"}
Evaluate = Callable[..., Result]


@pytest.fixture
def snapshot(demo_snapshot: Path, data: Path) -> Path:
    return demo_snapshot


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with serving_chat(lambda prompt: "fetch") as state:
        yield state


@pytest.fixture
def evaluate(driftline: Driftline, server: ChatServer, snapshot: Path, tmp_path: Path) -> Evaluate:
    """Run the command with the server as the endpoint; static metrics alone, unless an option says otherwise."""

    def run(*options: object, setting: str = SETTING, out: str = "out", view: View | None = View.ALL) -> Result:
        fixed = ("--setting", setting, "--model", "m1", "--out", tmp_path / out, "--no-run")
        chosen = ("--view", view) if view else ()
        return driftline("evaluate", snapshot, *fixed, *chosen, "--endpoint", server.openai, *options)

    return run


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_one_command_makes_report_score_file_and_answers(
    evaluate: Evaluate, server: ChatServer, tmp_path: Path
) -> None:
    result = evaluate("--n", 2, "--temperature", 0.5, "--price", "1,2", "--concurrency", 2)
    assert result.status == 0, result.text
    assert len(server.asked) == 6
    assert 1 <= server.most_at_once <= 2
    assert {(body["model"], body["max_tokens"], body["temperature"]) for body in server.asked} == {("m1", 4096, 0.5)}
    assert not {"anthropic", "x-api-key"} & server.headers[0].keys()
    out = tmp_path / "out"
    assert {len(line["completions"]) for line in lines(out / PREDICTIONS)} == {2}
    assert {line["text"] for line in lines(out / ANSWERS)} == {"fetch"}
    found = read_result(out)
    assert found.measured is not None
    measured = found.measured
    assert (measured.model, measured.setting, measured.samples, measured.answered) == ("m1", SETTING, 2, 6)
    # 60 new, 40 read from a cache and 10 written a request, each at the price of its kind
    assert (measured.input_tokens, measured.output_tokens) == (600, 60)
    assert measured.cost_usd == f"{6 * (100 * 1 + 10 * 2) / 1e6:.6f}"
    assert {len(task.prompt_sha256 or "") for task in found.tasks} == {64}
    by_id = {task.id: task for task in found.tasks}
    assert list(by_id["completion-token"].metrics[Metric.EM]) == [1, 1]
    report = (out / "report.md").read_text()
    assert found.manifest_sha256 in report
    assert "EM@1 1.000" in report


def test_the_messages_of_anthropic(evaluate: Evaluate, server: ChatServer, tmp_path: Path) -> None:
    result = evaluate("--protocol", "anthropic", "--endpoint", server.url, setting="gitchameleon-greedy")
    assert result.status == 0, result.text
    assert server.headers[0]["anthropic-version"]
    assert "system" in server.asked[0]
    assert [line["text"] for line in lines(tmp_path / "out" / ANSWERS)] == ["fetch"]


def test_a_system_prompt_goes_first_to_chat_completions(evaluate: Evaluate, server: ChatServer) -> None:
    assert evaluate(setting="gitchameleon-greedy").status == 0
    assert [message["role"] for message in server.asked[0]["messages"]] == ["system", "user"]


def test_stored_answers_are_not_requested_again(evaluate: Evaluate, server: ChatServer, tmp_path: Path) -> None:
    first = evaluate()
    again = evaluate(out="other")
    assert (len(server.asked), again.status) == (3, 0)
    assert "3 of them stored before" in again.err
    assert first.out == again.out
    evaluate("--n", 2, out="third")
    assert len(server.asked) == 6, "the first sample is stored, the second is not"
    evaluate("--max-tokens", 5, out="fourth")
    assert len(server.asked) == 9, "another bound is another request"


ANSWERS_OF_MODELS = {
    "a fence": ("```python\nfetch\n```", 1),
    "prose and a fence": ("The name is this:\n\n```\nfetch\n```\n\nIt was added in 2.0.", 1),
    "reasoning": ("<think>load? No: ```load```</think>\nfetch", 1),
    "reasoning without an end": ("<think>fetch", 0),
    "another task": ("def unrelated():\n    return 1", 0),
    "nothing": ("", 0),
    "ten thousand lines": ("load\n" * 10_000, 0),
    "more than is read": ("x" * 200_000, 0),
    "half a surrogate": ("\ud800", 0),
}


@pytest.mark.parametrize("case", ANSWERS_OF_MODELS)
def test_every_kind_of_answer_has_a_score(evaluate: Evaluate, server: ChatServer, tmp_path: Path, case: str) -> None:
    text, score = ANSWERS_OF_MODELS[case]
    server.script = lambda prompt: text
    result = evaluate()
    assert result.status == 0, result.text
    by_id = {task.id: task for task in read_result(tmp_path / "out").tasks}
    assert list(by_id["completion-token"].metrics[Metric.EM]) == [score]


@pytest.mark.parametrize(("ends", "field"), [("content_filter", "refused"), ("length", "cut_off")])
def test_how_answers_end_is_counted(
    evaluate: Evaluate, server: ChatServer, tmp_path: Path, ends: str, field: str
) -> None:
    server.ends = ends
    assert evaluate().status == 0
    assert getattr(read_result(tmp_path / "out").measured, field) == 3


def test_the_cost_is_null_without_token_counts(evaluate: Evaluate, server: ChatServer, tmp_path: Path) -> None:
    server.counts_tokens = False
    assert evaluate("--price", "1,2").status == 0
    measured = read_result(tmp_path / "out").measured
    assert measured is not None
    assert measured.cost_usd is None


PASSING = {
    "limited": [Fault(429, retry_after="0.01")] * 12,
    "overloaded": [Fault(503), Fault(500)],
    "cut off": [Fault(200, cut=True)],
    "dropped": [Fault(200, drop=True)],
    "slow": [Fault(200, hang=1, drop=True)],
}


@pytest.mark.parametrize("case", PASSING)
def test_what_passes_is_tried_again(
    evaluate: Evaluate, server: ChatServer, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setattr("pipeline.llm.client.client.wait_exponential_jitter", lambda **_: lambda state: 0.0)
    server.faults = list(PASSING[case])
    result = evaluate("--timeout", 0.5)
    assert (result.status, server.faults) == (0, []), result.text
    assert len(server.asked) == 3


ENDING = {
    EndpointProblem.WRONG_KEY: Fault(403, "this key is for others"),
    EndpointProblem.NO_SUCH_MODEL: Fault(404, "no such model"),
    EndpointProblem.NOT_THE_PROTOCOL: Fault(200, page="<html>sign in</html>"),
    EndpointProblem.BAD_REQUESTS: Fault(400, "max_tokens is not supported"),
    EndpointProblem.UNREACHABLE: Fault(503, "overloaded"),
    EndpointProblem.SPEND_LIMIT: Fault(429, "no credit", code="insufficient_quota", retry_after="1"),
    EndpointProblem.REFUSED: Fault(418, "no coffee"),
}


@pytest.mark.parametrize("problem", ENDING)
def test_an_error_that_meets_every_request_ends_with_its_code(
    evaluate: Evaluate, server: ChatServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, problem: EndpointProblem
) -> None:
    monkeypatch.setattr("pipeline.llm.client.client.wait_exponential_jitter", lambda **_: lambda state: 0.0)
    server.always = ENDING[problem]
    result = evaluate("--n", 20)
    assert result.status == 1
    assert result.err.splitlines()[-1].startswith(f"error: {problem}: ")
    assert ENDING[problem].page or ENDING[problem].message in result.err
    assert not (tmp_path / "out" / FILE).exists()


def test_what_was_answered_before_an_error_counts(evaluate: Evaluate, server: ChatServer, tmp_path: Path) -> None:
    server.faults = [Fault(400, "this prompt is too long")]
    result = evaluate("--concurrency", 1)
    assert result.status == 1
    assert "1 requests: bad_request: this prompt is too long" in result.err
    measured = read_result(tmp_path / "out").measured
    assert measured is not None
    assert (measured.answered, measured.missing) == (2, 1)
    assert evaluate("--concurrency", 1).status == 0
    assert len(server.asked) == 3


def test_no_server_ends_at_once(evaluate: Evaluate) -> None:
    result = evaluate("--endpoint", "http://127.0.0.1:1/v1")
    assert (result.status, "error: unreachable: " in result.err) == (1, True)


def test_a_wrong_key_is_not_shown(evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    result = evaluate()
    assert "error: wrong_key: " in result.err
    assert "somebody" not in result.text
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of somebody\n")
    assert evaluate().status == 1


def test_the_key_of_one_provider_never_goes_to_another(
    evaluate: Evaluate, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert evaluate().status == 1
    assert KEY not in str(server.headers)


def test_a_budget_ends_asking_before_it_is_passed(evaluate: Evaluate, server: ChatServer) -> None:
    result = evaluate("--price", "0,1000", "--max-tokens", 1000, "--max-usd", 1.005, "--concurrency", 1)
    assert result.status == 1
    assert "budget: " in result.err
    # 1 US dollar is reserved for a request, and 1 cent is the cost of its answer
    assert len(server.asked) == 1
    assert evaluate("--max-usd", 1).status == 2


def test_parameters_are_added_and_removed(evaluate: Evaluate, server: ChatServer) -> None:
    assert evaluate("--parameters", '{"max_tokens": null, "max_completion_tokens": 7}').status == 0
    assert {(body.get("max_tokens"), body["max_completion_tokens"]) for body in server.asked} == {(None, 7)}


def test_a_killed_run_goes_on_and_asks_nothing_again_that_was_stored(
    server: ChatServer, snapshot: Path, tmp_path: Path
) -> None:
    server.slow = 0.05
    concurrency, samples = 2, 20
    arguments = ["evaluate", snapshot, "--setting", SETTING, "--model", "m1", "--endpoint", server.openai]
    arguments += ["--out", tmp_path / "out", "--no-run", "--view", "all", "--n", samples, "--concurrency", concurrency]
    start = "import sys; from pipeline.cli.main import main; sys.argv[0] = 'driftline'; main()"
    command = [sys.executable, "-c", start, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
    until = time.monotonic() + 60
    while len(server.asked) < 10 and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    time.sleep(0.3)  # requests under way end at the server
    before = len(server.asked)
    assert 10 <= before < 3 * samples
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert len(server.asked) <= 3 * samples + concurrency, "at most those that were under way are asked again"
    assert {len(line["completions"]) for line in lines(tmp_path / "out" / PREDICTIONS)} == {samples}


BAD = {
    "no such setting": (["--setting", "best"], "[prompt_setting_unknown]"),
    "a setting with failed answers": (["--setting", "gitchameleon-self-debugging"], "--attempts"),
    "no address": (["--endpoint", "localhost"], "http://"),
    "an address that is none": (["--endpoint", "http://[::1"], "is no address"),
    "parameters that are no JSON": (["--parameters", "{"], "--parameters: not JSON"),
    "a parameter of ours": (["--parameters", '{"model": "x"}'], "--parameters: an object"),
    "a price that is none": (["--price", "cheap"], "--price 'cheap'"),
    "a negative price": (["--price", "-1,2"], "--price '-1,2'"),
    "a budget without a price": (["--max-usd", "1"], "--max-usd needs a price"),
    "no key": (["--endpoint", "https://api.openai.com/v1"], "[key_not_set]"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_usage(evaluate: Evaluate, server: ChatServer, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    options, message = BAD[case]
    monkeypatch.delenv("OPENAI_API_KEY")
    result = evaluate(*options)
    assert (result.status, result.out, server.headers) == (2, "", []), result.text
    assert message in " ".join(result.err.split())


@pytest.mark.parametrize(("options", "code"), BAD_VIEWS)
def test_a_cutoff_that_cannot_be_used(
    evaluate: Evaluate, server: ChatServer, options: tuple[str, ...], code: str
) -> None:
    result = evaluate(*options, view=None)
    assert (result.status, result.out, server.headers) == (2, "", [])
    assert f"[{code}]" in result.err


def test_rows_after_a_training_cutoff(evaluate: Evaluate, tmp_path: Path) -> None:
    cutoff = TIME.date() - timedelta(1)
    options = ("--view", "post_cutoff", "--cutoff", cutoff)
    assert evaluate(*options, setting="driftline-compatibility", view=None).status == 0
    found = read_result(tmp_path / "out")
    assert (len(found.tasks), found.view, found.cutoff) == (1, View.POST_CUTOFF, cutoff)
    assert f"post_cutoff {cutoff}" in (tmp_path / "out" / "report.md").read_text().replace("\\", "")


def test_a_view_without_tasks_names_the_other(evaluate: Evaluate, driftline: Driftline, server: ChatServer) -> None:
    result = evaluate(setting="versicode-function", view=None)
    assert (result.status, server.headers) == (2, [])
    assert "not_in_view" in result.err
    assert "--view all" in " ".join(result.err.split())


def test_a_choice_of_tasks_is_scored_alone(evaluate: Evaluate, server: ChatServer, tmp_path: Path) -> None:
    assert evaluate("--tasks", 2).status == 0
    found = read_result(tmp_path / "out")
    assert (len(server.asked), len(found.tasks), found.excluded) == (2, 2, {})


def test_evaluating_needs_no_airflow() -> None:
    names = ("evaluate", "prompts", "score", "compare-scores")
    code = (
        f"import sys; sys.modules['airflow'] = None; from pipeline.cli.commands import load; [load(n) for n in {names}]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
