"""What a curator sets about running: limits of a run, how often it is repeated, how outputs are compared."""

from __future__ import annotations

from pydantic import Field

from pipeline.environments import Limits
from pipeline.rules import Rule

_MIB = 1 << 20


class ValidationRules(Rule):
    """The parameters of running code; see `curation_rules/validation.yaml`."""

    repeats: int = Field(ge=1)
    options: tuple[str, ...]
    time_s: float = Field(gt=0)
    probe_time_s: float = Field(gt=0)
    memory_mib: int = Field(gt=0)
    processes: int = Field(gt=0)
    output_kib: int = Field(gt=0)
    file_mib: int = Field(gt=0)
    scratch_mib: int = Field(gt=0)

    @property
    def limits(self) -> Limits:
        """What one case may use."""
        return self._limits(self.time_s)

    @property
    def probe_limits(self) -> Limits:
        """What the probes of one environment may use."""
        return self._limits(self.probe_time_s)

    def _limits(self, time_s: float) -> Limits:
        return Limits(
            time_s=time_s,
            memory_bytes=self.memory_mib * _MIB,
            processes=self.processes,
            output_bytes=self.output_kib << 10,
            file_bytes=self.file_mib * _MIB,
            scratch_bytes=self.scratch_mib * _MIB,
        )
