"""What the other requirements of a project leave of a library: all of them resolved together, as of a date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from packaging.utils import canonicalize_name

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.corpus.pins.matrix import Narrow
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.execution.environments.resolution.interpreters import Interpreter
from pipeline.execution.environments.resolution.pinned import read_lock
from pipeline.execution.environments.resolution.resolver import Resolver
from pipeline.index.http import Unreachable

_PASSING = frozenset({EnvironmentOutcome.NO_SPACE, EnvironmentOutcome.TIMED_OUT})


def narrowed_by(resolver: Resolver, interpreters: Sequence[Interpreter]) -> Narrow:
    """Return a way for `version_of` to resolve the requirements of a project with uv, wheels only.

    It says nothing (None) where that Python is not installed here, or where no wheels meet all requirements.
    Errors, when it is called: Unreachable, where the index, the disk or the time did not let it come to an answer.
    """
    installed = {interpreter.python: interpreter for interpreter in interpreters}

    def narrow(library: str, requirements: Sequence[str], python: str, as_of: datetime) -> str | None:
        if python not in installed:
            return None
        try:
            lock = resolver.lock(requirements, installed[python], as_of)
        except IndexUnreachable as error:
            raise Unreachable(str(error)) from None
        except StepFailed as error:
            if error.outcome in _PASSING:
                raise Unreachable(str(error)) from None
            return None
        return next((pin.version for pin in read_lock(lock) if pin.name == canonicalize_name(library)), None)

    return narrow
