"""`driftline evaluate`: one command from a snapshot to a report about a model."""

from __future__ import annotations

import json as json_text
import os
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, notify, print_json, progress
from pipeline.cli.scoring.prompts import setting_error
from pipeline.cli.scoring.score import REPORT, as_json, print_scored, rules_for, sandboxed
from pipeline.cli.scoring.views import Cutoff, ViewName, view_of
from pipeline.cli.snapshots import SnapshotName, find_snapshot
from pipeline.core.errors import InputError
from pipeline.core.rules.load import load
from pipeline.core.settings import settings
from pipeline.core.vocabularies.evaluation import EndpointProblem, Protocol, View
from pipeline.core.vocabularies.prompts import PromptInput
from pipeline.evaluation.asking.evaluate import Evaluation, Questions, evaluate, measured, questions, write_answers
from pipeline.evaluation.asking.report import report_of
from pipeline.evaluation.prompts.rules import prompt_rules
from pipeline.evaluation.scores.result import Measured, result_of, write_result
from pipeline.evaluation.scores.score import REFERENCE_RUNS, RUNS, score_predictions, write
from pipeline.evaluation.verdicts import write_verdicts
from pipeline.evaluation.views import ALL_ROWS, TaskView
from pipeline.families.all_families import BY_NAME
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.lake.tables import replacing
from pipeline.llm.client.answers import Answers
from pipeline.llm.client.chat import Chat, ChatClient, Endpoint, sdk_for
from pipeline.llm.client.client import Client
from pipeline.llm.client.ledger import Ledger
from pipeline.llm.client.paid import PaidClient
from pipeline.llm.client.rules import Limit, ModelRules, Price
from pipeline.llm.client.store import Store
from pipeline.llm.client.tally import usd

_ADDRESSES = {
    Protocol.OPENAI: ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    Protocol.ANTHROPIC: ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
}
_KEYS = {Protocol.OPENAI: ("OPENAI_API_KEY",), Protocol.ANTHROPIC: ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")}
_NO_KEY = "none"
"""Servers on one's own machine take any key."""
_ADVICE = {
    EndpointProblem.WRONG_KEY: "set {key} to a key of {url}",
    EndpointProblem.NO_SUCH_MODEL: "correct --model, --endpoint or --protocol",
    EndpointProblem.NOT_THE_PROTOCOL: "correct --endpoint or --protocol",
    EndpointProblem.BAD_REQUESTS: "change the request with --parameters; null takes a parameter out",
    EndpointProblem.UNREACHABLE: "run the same command again later, or with a smaller --concurrency",
    EndpointProblem.SPEND_LIMIT: "raise the limit at the provider, then run the same command again",
    EndpointProblem.BUDGET: "raise --max-usd, then run the same command again",
    EndpointProblem.REFUSED: "run the same command again when the cause is removed",
}


def evaluate_model(
    snapshot: SnapshotName,
    setting: Annotated[
        str, typer.Option(help="Name of the setting; `driftline prompts --list` shows all.", show_default=False)
    ],
    model: Annotated[str, typer.Option(help="Model, as the endpoint names it.", show_default=False)],
    folder: Annotated[
        Path, typer.Option("--out", help="Folder for report, scores and answers.", metavar="DIR", show_default=False)
    ],
    protocol: Annotated[Protocol, typer.Option(help="How the endpoint is asked.")] = Protocol.OPENAI,
    endpoint: Annotated[
        str | None, typer.Option(help="Base address, such as http://localhost:8000/v1.", metavar="URL")
    ] = None,
    view: ViewName = View.DISCRIMINATING,
    cutoff: Cutoff = None,
    samples: Annotated[int, typer.Option("--n", min=1, max=1000, help="Samples of each answer.")] = 1,
    k: Annotated[
        str | None,
        typer.Option("--k", help="Samples drawn; by default those of scores.yaml, up to --n.", metavar="1,3,10"),
    ] = None,
    tasks: Annotated[int | None, typer.Option(min=1, help="Only so many tasks, a fixed random choice.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Requests at a time.")] = 8,
    max_tokens: Annotated[int, typer.Option(min=1, help="Bound of an answer in tokens.")] = 4096,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Temperature; without it that of the endpoint.")
    ] = None,
    parameters: Annotated[
        str | None,
        typer.Option(help="Further parameters of a request; null takes one out.", metavar="JSON"),
    ] = None,
    price: Annotated[
        str | None, typer.Option(help="US dollars for a million tokens of input and output.", metavar="IN,OUT")
    ] = None,
    max_usd: Annotated[float | None, typer.Option(min=0, help="What this run may cost; needs a price.")] = None,
    timeout_s: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait for an answer.")] = 600,
    run: Annotated[bool, typer.Option("--run/--no-run", help="Run answers in the sandbox: Pass@k.")] = True,
    json: Json = False,
) -> None:
    """Ask a model for the answers to a setting's prompts, score them, and write a report.

    The key is that of OPENAI_API_KEY or ANTHROPIC_API_KEY. Answers are stored: the same command continues after a kill,
    and pays no stored answer again. Ends with status 0, 1 if samples are missing, 2 for bad usage.

    Example: driftline evaluate starter --setting versicode-migration --model MODEL --out results/MODEL
    """
    by_setting = prompt_rules()
    if setting not in by_setting:
        fail(setting_error(setting), BAD_USAGE)
    if PromptInput.ATTEMPT in by_setting[setting].settings[setting].inputs:
        fail(f"{setting} shows failed answers: use `driftline prompts --attempts` and `driftline score`", BAD_USAGE)
    if folder.exists() and not folder.is_dir():
        fail(f"--out {folder} is a file; name a folder", BAD_USAGE)
    rules, snapshot_folder, chosen = rules_for(k), find_snapshot(snapshot), view_of(view, cutoff)
    if k is None:
        rules = rules.model_copy(update={"k": tuple(drawn for drawn in rules.k if drawn <= samples) or (1,)})
    models = load(settings().rules / "models.yaml", ModelRules)
    target = Endpoint(protocol, _address(protocol, endpoint), model, _parameters(max_tokens, temperature, parameters))
    priced = _price(price) or models.models.get(model)
    if max_usd is not None and priced is None:
        fail(f"--max-usd needs a price: {model} has none in curation_rules/models.yaml; give --price IN,OUT", BAD_USAGE)
    to_ask = _questions(snapshot_folder, setting, chosen, tasks)
    client = _client(target, models, priced, max_usd, timeout_s)
    _announce(to_ask, target, samples, client)
    with progress(f"asking {model}") as report:
        evaluation = evaluate(to_ask, target, samples, client, concurrency, report)
    _report_stop(evaluation, target)
    predictions = write_answers(evaluation, folder)
    with progress("scoring") as report, predictions.open("rb") as file:
        family = to_ask.prompts[0].family
        runners = sandboxed() if run and BY_NAME[family].running else None
        scored = score_predictions(
            snapshot_folder,
            file,
            rules,
            runners,
            folder / RUNS,
            report,
            view=chosen,
            references=settings().cache / REFERENCE_RUNS,
            only=to_ask.hashes.keys() if tasks else None,
        )
    summary = measured(evaluation, target, samples, client)
    result = result_of(snapshot_folder, scored, chosen, runners, summary, to_ask.hashes)
    write(scored, folder, f"{snapshot_folder.name}, {model}", rules)
    write_verdicts(scored, folder)
    write_result(result, folder)
    with replacing(folder / REPORT) as temporary:
        temporary.write_text(report_of(result), encoding="utf-8")
    if json:
        print_json(
            {**as_json(snapshot_folder, scored), "requests": client.paid.requests, "report": str(folder / REPORT)}
        )
    else:
        print_scored(scored, rules, None, None)
        _summarize(summary, evaluation, client, folder)
    raise typer.Exit(PROBLEM if summary.missing else 0)


def _address(protocol: Protocol, endpoint: str | None) -> str:
    variable, default = _ADDRESSES[protocol]
    address = endpoint or os.environ.get(variable) or default
    if not address.startswith(("http://", "https://")):
        fail(f"--endpoint {address}: an address begins with http:// or https://", BAD_USAGE)
    return address.rstrip("/")


def _parameters(max_tokens: int, temperature: float | None, others: str | None) -> Mapping[str, Any]:
    parameters: dict[str, Any] = {"max_tokens": max_tokens}
    if temperature is not None:
        parameters["temperature"] = temperature
    try:
        read = json_text.loads(others) if others else {}
    except ValueError as error:
        fail(f"--parameters: not JSON: {error}", BAD_USAGE)
    if not isinstance(read, dict) or {"model", "messages", "system", "stream", "n"} & read.keys():
        fail("--parameters: an object of parameters, without model, messages, system, stream and n", BAD_USAGE)
    return {name: value for name, value in (parameters | read).items() if value is not None}


def _price(text: str | None) -> Price | None:
    if text is None:
        return None
    try:
        read, written = (Decimal(part) for part in text.split(","))
        return Price(input=read, output=written, cache_write=read, cache_read=read)
    except (ValueError, InvalidOperation):
        fail(f"--price {text!r}: two amounts with a comma between them, such as 0.15,0.60", BAD_USAGE)


def _questions(snapshot: Path, setting: str, view: TaskView, tasks: int | None) -> Questions:
    ignore_case = load(settings().rules / "masking.yaml", MaskingRules).ignore_case
    try:
        to_ask = questions(snapshot, setting, prompt_rules()[setting], view, ignore_case=ignore_case, tasks=tasks)
    except ValueError as error:
        fail(error, BAD_USAGE)
    for reason, rows in sorted(to_ask.without.items()):
        notify(f"{rows} rows have no prompt, {reason}: {reason.meaning}")
    if not to_ask.prompts:
        hint = f"; --view {View.ALL} takes all rows" if view != ALL_ROWS and to_ask.without else ""
        fail(f"{setting}: no row of {snapshot.name} has a prompt in the view {view}{hint}", BAD_USAGE)
    return to_ask


def _client(
    endpoint: Endpoint, rules: ModelRules, price: Price | None, max_usd: float | None, timeout_s: float
) -> ChatClient:
    key = next((value for name in _KEYS[endpoint.protocol] if (value := os.environ.get(name))), None)
    if key is None and endpoint.url == _ADDRESSES[endpoint.protocol][1]:
        name = _KEYS[endpoint.protocol][0]
        fail(InputError(f"{name} is not set; set it to a key of {endpoint.url}", code="key_not_set"), BAD_USAGE)
    store = Store(settings().evaluations)
    limits = (
        [Limit("run", Decimal(str(max_usd)), f"--max-usd is {max_usd:g} US dollars")] if max_usd is not None else []
    )
    client = Client(rules, sdk_for(endpoint, key or _NO_KEY, timeout_s))
    return ChatClient(PaidClient(client, Answers(store), Ledger(store, limits)), price)


def _announce(to_ask: Questions, endpoint: Endpoint, samples: int, client: ChatClient) -> None:
    """Print how much is target, and the most that it may cost."""
    requests = len(to_ask.prompts) * samples
    price = "its cost is unknown: no price"
    if client.price:
        chats = [Chat(endpoint, prompt.system, prompt.prompt) for prompt in to_ask.prompts]
        most = sum(client.worst(chat) for chat in chats) * samples
        price = f"at most {usd(most)}, if every answer is as long as it may be"
    notify(f"{len(to_ask.prompts)} tasks, {requests} samples of {endpoint.model}; {price}")


def _report_stop(evaluation: Evaluation, endpoint: Endpoint) -> None:
    """Print why asking ended early; where no answer is there, end."""
    if (stop := evaluation.collected.stop) is None:
        return
    advice = _ADVICE[stop.problem].format(key=_KEYS[endpoint.protocol][0], url=endpoint.url)
    message = f"{stop.problem}: {stop.problem.meaning}: {stop.detail}; {advice}"
    if not evaluation.collected.answers:
        fail(message)
    notify(message)


def _summarize(summary: Measured, evaluation: Evaluation, client: ChatClient, folder: Path) -> None:
    notify(
        f"{summary.answered} samples answered ({evaluation.collected.stored} of them stored before),"
        f" {summary.refused} refused, {summary.cut_off} cut off, {summary.empty} empty, {summary.missing} missing"
    )
    if client.price:
        paid = client.paid.ledger.spent()
        notify(f"cost: {summary.cost_usd or '0'} US dollars for all answers, {usd(paid)} in this run")
    else:
        tokens = f"{summary.input_tokens} tokens of input and {summary.output_tokens} of output"
        notify(f"cost: unknown, {tokens}; --price shows it")
    failures = evaluation.collected.failures.values()
    for kind in dict.fromkeys(failure.kind for failure in failures):
        of_kind = [failure for failure in failures if failure.kind == kind]
        notify(f"{len(of_kind)} requests: {kind}: {of_kind[0].detail}")
    if summary.missing:
        notify("run the same command again to ask for the missing samples")
    notify(f"Report: {folder / REPORT}")
