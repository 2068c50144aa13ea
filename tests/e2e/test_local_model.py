"""A refresh whose descriptions a real, small model drafts, from the request over the checks to the snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.llm.client.tally import added
from pipeline.llm.names import find_names
from pipeline.orchestration.refresh import Refresh, drafts_of
from pipeline.quality.all_rules import CurationRules
from pipeline.snapshots.verify import verify
from tests.demo_library import publish_demo
from tests.e2e.test_model_drafts import change, environment, refresh, rows, rules, set_up
from tests.index_server import Index, serve
from tests.local_model import small_model, told, weights
from tests.model_server import ModelServer, serving

pytestmark = pytest.mark.slow

# It writes sentences; of code nothing would be gained but time.
CODE = {
    "function_tests": "max_per_library",
    "migrated_code": "max_requests",
    "problem": "max_per_library",
    "rename_judgement": "max_requests",
    "task_function": "max_per_library",
}


def test_what_a_real_model_writes_is_checked_counted_and_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    weights()
    with serve(Index()) as index, serving(ModelServer(small_model())) as server:
        publish_demo(index)
        folder = rules(tmp_path / "rules")
        for kind, limit in CODE.items():
            change(folder / "drafts" / f"{kind}.yaml", **{limit: 0})
        change(folder / "drafts" / "instruction.yaml", improves=[])
        change(folder / "drafts" / "description.yaml", tries=2)
        set_up(monkeypatch, environment(index, tmp_path / "data", folder, server.url))
        published = refresh("real")
    assert verify(published.path) == []
    drafts = drafts_of(Refresh(run="real"))
    asked = added(drafts.tallies.values())
    assert asked.requests == len(server.asked) > 0
    assert asked.accepted + asked.refused > 0
    assert (asked.waiting, asked.stopped) == (0, None)
    assert drafts.spent is not None
    assert drafts.spent.run > 0
    drafting = CurationRules.read().drafting
    for row in rows(published, "completions"):
        assert not find_names(row["description"], [row["core_token"]], drafting)
    for request in server.asked:
        assert told(request)["hidden"]
    by_model = [row["description"] for row in rows(published, "completions") if row["drafter"] == "model"]
    record_property("drafts", f"{asked}: {by_model}")
