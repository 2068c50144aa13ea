"""Source distributions: resolved and built inside the sandbox, where `setup.py` can reach nothing but the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

from packaging.utils import canonicalize_name

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.builds.build_lock import Question, lock_with_builds
from pipeline.execution.environments.builds.build_rules import build_rules
from pipeline.execution.environments.builds.build_site import BuildSite, NothingHelps
from pipeline.execution.environments.builds.build_wheel import WheelOrder, build_wheel
from pipeline.execution.environments.builds.wheel_store import NotTheWheel, WheelStore
from pipeline.execution.environments.resolution.failures import StepFailed, failure_rules
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.execution.environments.resolution.interpreters import Interpreter
from pipeline.execution.environments.resolution.pinned import Pin, any_built, read_lock, write_lock
from pipeline.execution.environments.resolution.rules import EnvironmentRules
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.index.archives import ArchiveLimits
from pipeline.index.manifest import sha256_of

_MAX_UNPACKED = 4 << 30
_AT_ONCE = 2


class Builder:
    """Resolves and builds what has no wheels. Finished wheels stay in `root`, for the next lock and without network."""

    def __init__(self, root: Path, *, facts: IndexFacts, sandbox: Sandbox, rules: EnvironmentRules) -> None:
        self.rules = rules
        self._site = BuildSite(sandbox, facts, build_rules(), failure_rules())
        self._store = WheelStore(root, ArchiveLimits(_MAX_UNPACKED))
        self._hopeless: dict[tuple[tuple[str, ...], str], NothingHelps] = {}

    def lock(
        self,
        requirements: Sequence[str],
        interpreter: Interpreter,
        cutoff: datetime,
        later: Mapping[str, datetime] | None = None,
    ) -> str:
        """Resolve requirements as of a time, building what must be built to know what it needs; return the lock text.

        What has wheels is taken from a wheel, and from source only where that leads nowhere. The lock says what is to
        be built, and how. `later` names distributions that have a cut-off of their own.

        Errors: StepFailed with UNRESOLVABLE, BUILD_FAILED or TIMED_OUT; IndexUnreachable.
        """
        own: dict[str, datetime] = {canonicalize_name(name): time for name, time in (later or {}).items()}
        return lock_with_builds(
            self._site, Question(requirements, interpreter, cutoff, self._site.rules.cutoffs(cutoff, own))
        )

    def installable(self, lock: str, interpreter: Interpreter) -> str:
        """Return a lock in which what is to be built is replaced by the wheel that was built of it, here on disk.

        Errors: as wheel().
        """
        if not any_built(lock):
            return lock
        pins = read_lock(lock)
        beside = tuple(pin.requirement for pin in pins if pin.name in self._site.rules.run_as_built)
        sources = [pin for pin in pins if pin.built]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            wheels = list(pool.map(lambda pin: self.wheel(pin, interpreter, beside), sources))
        lines = [write_lock(pin for pin in pins if not pin.built)]
        for pin, wheel in zip(sources, wheels, strict=True):
            lines.append(f"{pin.name} @ {wheel.as_uri()} \\\n    --hash=sha256:{sha256_of(wheel.read_bytes())}\n")
        return "".join(lines)

    def wheel(self, pin: Pin, interpreter: Interpreter, beside: Sequence[str] = ()) -> Path:
        """Return the wheel of a source distribution, built if it was not yet, the same for everybody who asks.

        `beside` is what it will run with and is compiled against, at the versions that it will meet.

        Errors: StepFailed with BUILD_FAILED, TIMED_OUT or NO_FILES; IndexUnreachable.
        """
        python = interpreter.python
        with self._store.reserved(pin, python, beside):
            wheel = self._store.find(pin, python, beside)
            if wheel:
                return wheel
            if failure := self._hopeless.get((pin.sha256s, python)):
                raise failure
            try:
                name, content = build_wheel(self._site, self._order(pin, interpreter, beside))
                return self._store.put(name, content, pin, python, beside)
            except NotTheWheel as error:
                raise StepFailed(EnvironmentOutcome.BUILD_FAILED, str(error), culprit=pin.requirement) from None
            except StepFailed as error:
                error.culprit = pin.requirement
                if isinstance(error, NothingHelps):
                    self._hopeless[pin.sha256s, python] = error
                raise

    def _order(self, pin: Pin, interpreter: Interpreter, beside: Sequence[str]) -> WheelOrder:
        if pin.built is None:
            raise ValueError(f"{pin.requirement} is not to be built")
        file = self._site.file(pin)
        own = self.rules.cutoff(file.uploaded or pin.built.as_of, interpreter.python)
        return WheelOrder(pin, file, interpreter, tuple(beside), pin.built, min(own, pin.built.as_of))
