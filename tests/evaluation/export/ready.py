"""A store of environments with one that is there already."""

from __future__ import annotations

from typing import Any

from pipeline.execution.sandbox.environment import Environment


class Ready:
    """A store whose only environment has been installed already."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def open(self, row: Any) -> Environment:
        return self.environment
