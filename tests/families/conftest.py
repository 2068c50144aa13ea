"""A model that drafts, for the tests of what families ask of it."""

from __future__ import annotations

from tests.llm.conftest import drafter, server

__all__ = ["drafter", "server"]
