from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.corpus.github.rules import GitHubRules
from pipeline.corpus.github.source import GitHub
from pipeline.corpus.pins.matrix import Published
from pipeline.corpus.python_files import PythonFileRules
from pipeline.index.http import Fetcher
from pipeline.lake.rows import ReleaseRow
from tests.corpus.github.hub import TOKEN, Hub

RELEASES = (("1.0", "2020-01-01"), ("1.1", "2021-02-01"), ("2.0", "2022-01-01"))


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def github_rules() -> GitHubRules:
    """The rules that ship, but for waits that nobody wants to sit through."""
    rules = load(RULES / "github.yaml", GitHubRules)
    ask = rules.ask.model_copy(update={"backoff_s": 0.01, "retries": 2, "max_wait_s": 0.5, "secondary_wait_s": 0.2})
    search = rules.search.model_copy(update={"licences": ("MIT", "Apache-2.0"), "min_stars": 10})
    return rules.model_copy(update={"ask": ask, "search": search})


@pytest.fixture
def releases() -> list[ReleaseRow]:
    return [
        {
            "library": "demo",
            "version": version,
            "release_time": day(time),
            "requires_python": None,
            "import_names": ["demo"],
        }
        for version, time in RELEASES
    ]


MakeGitHub = Callable[..., GitHub]


@pytest.fixture
def github(hub: Hub, tmp_path: Path) -> MakeGitHub:
    """Make a source over the hub and one cache; `ask`, `take` and `search` change its rules."""

    def make(timeout_s: float = 5, token: str | None = TOKEN, **changes: dict[str, object]) -> GitHub:
        rules = github_rules()
        for part, changed in changes.items():
            rules = rules.model_copy(update={part: getattr(rules, part).model_copy(update=changed)})
        return GitHub(
            hub.url,
            token,
            Fetcher(timeout_s=timeout_s, retries=1, backoff_s=0.01),
            rules,
            load(RULES / "python_files.yaml", PythonFileRules),
            tmp_path / "cache" / "github",
            lambda library: [Published(version, day(time), None) for version, time in RELEASES],
            now=lambda: day("2022-06-01"),
        )

    return make
