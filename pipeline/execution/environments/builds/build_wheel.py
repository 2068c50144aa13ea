"""One wheel of one source distribution, built inside the sandbox as of the days of that source."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.builds.build_run import Job, dated, uv_options
from pipeline.execution.environments.builds.build_site import BuildSite, NothingHelps, most_informative
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.execution.environments.resolution.interpreters import Interpreter
from pipeline.execution.environments.resolution.pinned import Built, Pin
from pipeline.execution.environments.resolution.resolver import portable_log
from pipeline.execution.environments.resolution.wheel_compatibility import WheelsFirst
from pipeline.execution.sandbox.sandbox import SCRATCH
from pipeline.index.http import BadAnswer, NotFound, Unreachable, WrongHash
from pipeline.index.index import IndexFile

_MAX_SOURCE = 512 << 20
_ZIP_EPOCH = 315_532_800  # 1980-01-01, before which no member of a zip archive can be dated


@dataclass(frozen=True, slots=True)
class WheelOrder:
    """What is to be built of which file: `beside` is what it is compiled against, `own` the cut-off of its own day."""

    pin: Pin
    file: IndexFile
    interpreter: Interpreter
    beside: tuple[str, ...]
    how: Built
    own: datetime


def build_wheel(site: BuildSite, order: WheelOrder) -> tuple[str, bytes]:
    """Return name and bytes of a wheel, of which nothing is checked yet.

    What fails under all that is asked of its build requirements is tried with less of it.

    Errors: StepFailed with BUILD_FAILED, TIMED_OUT or NO_FILES; IndexUnreachable.
    """
    source = _source(site, order.file)
    failures: list[StepFailed] = []
    for constraints, as_of in dict.fromkeys(_attempts(order)):
        try:
            return _build(site, order, source, constraints, as_of)
        except NothingHelps:
            raise
        except StepFailed as error:
            failures.append(error)
    raise most_informative(failures)


def _attempts(order: WheelOrder) -> Iterator[tuple[tuple[str, ...], datetime]]:
    """Yield constraints on build requirements, and as of when they are resolved."""
    constraints = order.how.constraints
    named = {word.split("==")[0] for word in order.beside}
    yield (*(word for word in constraints if re.split(r"[<>=!~]", word)[0] not in named), *order.beside), order.own
    yield constraints, order.own
    yield constraints, order.how.as_of
    yield (), order.how.as_of


def _build(
    site: BuildSite, order: WheelOrder, source: bytes, constraints: tuple[str, ...], as_of: datetime
) -> tuple[str, bytes]:
    name = order.file.filename
    others = site.rules.cutoffs(as_of, {})
    epoch = int(order.file.uploaded.timestamp()) if order.file.uploaded else 0
    arguments = ["pip", "install", f"{order.pin.name} @ file://{SCRATCH}/{name}", *uv_options(order.interpreter)]
    arguments += ["--build-constraints", f"{SCRATCH}/constraints.txt", *dated(as_of, others)]
    arguments += ["--no-deps", "--target", f"{SCRATCH}/target"]
    variables = {"SOURCE_DATE_EPOCH": str(max(epoch, _ZIP_EPOCH))}
    view = WheelsFirst(order.interpreter.python, lambda name: others.get(name, as_of), {})
    job = Job(arguments, {name: source}, order.pin.name, variables)
    try:
        ran = site.run(job, order.interpreter, view, constraints)
    except StepFailed as error:
        if error.outcome is EnvironmentOutcome.UNRESOLVABLE:  # uv's word for a wheel of another name or version
            raise StepFailed(EnvironmentOutcome.BUILD_FAILED, error.detail) from None
        raise
    return ran.name, ran.result


def _source(site: BuildSite, file: IndexFile) -> bytes:
    """Return the bytes of a source distribution, which are those that the lock names."""
    with tempfile.TemporaryFile() as target:
        try:
            site.facts.fetcher.download(file.url, target, sha256=file.sha256, max_bytes=_MAX_SOURCE)
        except Unreachable as error:
            raise IndexUnreachable(str(error)) from None
        except (NotFound, BadAnswer, WrongHash) as error:
            raise StepFailed(EnvironmentOutcome.NO_FILES, portable_log(str(error))) from None
        target.seek(0)
        return target.read()
