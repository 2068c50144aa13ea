"""What a curator sets about running: limits of a run, how often it is repeated, how outputs are compared."""

from __future__ import annotations

from pydantic import Field

from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.running import Process, Variation
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.execution.sandbox.supervise import Limits

_MIB = 1 << 20
_DESCRIPTION = 1 << 14  # bytes: what a probe says of one path is shorter


class ValidationRules(Rule):
    """The parameters of running code; see `curation_rules/validation.yaml`."""

    process: Process
    fork_from: int = Field(ge=1)
    repeats: int = Field(ge=1)
    vary: tuple[Variation, ...]
    clock_shift_days: int = Field(ge=1)
    options: tuple[str, ...]
    executable_sources: frozenset[SnippetSource]
    time_s: float = Field(gt=0)
    probe_time_s: float = Field(gt=0)
    sample_time_s: float = Field(gt=0)
    memory_mib: int = Field(gt=0)
    processes: int = Field(gt=0)
    output_kib: int = Field(gt=0)
    output_tail: int = Field(ge=0)
    file_mib: int = Field(gt=0)
    scratch_mib: int = Field(gt=0)
    ignore_warnings: bool = False

    @property
    def limits(self) -> Limits:
        """What one case may use."""
        return self._limits(self.time_s)

    @property
    def once(self) -> ValidationRules:
        """These rules for what is to fail: one run says so."""
        return self.model_copy(update={"repeats": 1})

    def probe_limits(self, paths: int) -> Limits:
        """What the probes of one environment, of that many paths, may use: each says what it has found."""
        return self._limits(self.probe_time_s, paths * _DESCRIPTION)

    def _limits(self, time_s: float, probe_bytes: int = 0) -> Limits:
        return Limits(
            time_s=time_s,
            memory_bytes=self.memory_mib * _MIB,
            processes=self.processes,
            output_bytes=(self.output_kib << 10) + probe_bytes,
            file_bytes=self.file_mib * _MIB,
            scratch_bytes=self.scratch_mib * _MIB,
        )
