"""A model on loopback for the tests of drafting."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import anthropic
import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.llm.client.answers import Answers
from pipeline.llm.client.batches import Batches
from pipeline.llm.client.client import Client
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.client.ledger import Ledger
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.client.store import Store
from tests.model_server import KEY, ModelServer, serving

Make = Callable[..., ModelDrafter]


def echo(params: dict[str, Any]) -> dict[str, Any]:
    return {"text": json.dumps({"text": params["messages"][0]["content"]})}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(ModelServer(echo)) as state:
        yield state


@pytest.fixture
def drafter(server: ModelServer, tmp_path: Path) -> Make:
    """Make drafters that share a store, as runs one after another do; the keywords are other rules."""

    return partial(model_drafter_at, server, tmp_path)


def model_drafter_at(
    server: ModelServer,
    folder: Path,
    now: datetime = datetime(2026, 11, 22, tzinfo=UTC),
    run: str = "",
    timeout: float = 20,
    **changes: Any,
) -> ModelDrafter:
    """Make a drafter that keeps its answers in a folder and asks a server, with little patience."""
    quick = {"poll_s": 0, "wait_s": 0.005, "longest_pause_s": 0}
    rules = load(RULES / "models.yaml", ModelRules).model_copy(update=quick | changes)
    # nothing to verify on loopback, and reading all certificates takes longer than an answer
    plain = anthropic.DefaultHttpxClient(verify=False)
    sdk = anthropic.Anthropic(api_key=KEY, base_url=server.url, max_retries=0, timeout=timeout, http_client=plain)
    store, client = Store(folder / "model.sqlite"), Client(rules, sdk)
    batches = Batches(store, client, sleep=lambda _: None)
    return ModelDrafter(
        client, Answers(store), Ledger(store, rules.limits, run or uuid.uuid4().hex, lambda: now), batches
    )
