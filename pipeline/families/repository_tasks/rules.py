"""What a curator decides about projects whose tests are run, and about the tasks that are made of them."""

from __future__ import annotations

import re

from packaging.utils import canonicalize_name
from pydantic import Field

from pipeline.core.rules.load import Rule
from pipeline.execution.sandbox.supervise import Limits
from pipeline.families.repository_tasks.tree import TreeRules

_MIB = 1 << 20


class RepositoryRules(Rule, TreeRules):
    """The rules of `curation_rules/repository.yaml`; sizes in the units of their names, times in seconds."""

    releases: int = Field(ge=0)
    dependents: int = Field(ge=0)
    max_sdist_bytes: int = Field(gt=0)
    max_unpacked_bytes: int = Field(gt=0)
    max_ratio: int = Field(gt=0)
    test_files: tuple[str, ...]
    test_folders: frozenset[str]
    aside: frozenset[str]
    test_groups: frozenset[str]
    other_groups: frozenset[str]
    not_needed: frozenset[str]
    files: int = Field(gt=0)
    tests: int = Field(gt=0)
    test_calls: int = Field(gt=0)
    test_time_s: float = Field(gt=0)
    time_s: float = Field(gt=0)
    changed_import_cpu_s: float = Field(gt=0)
    repeats: int = Field(ge=2)
    memory_mib: int = Field(gt=0)
    processes: int = Field(gt=0)
    output_kib: int = Field(gt=0)
    file_mib: int = Field(gt=0)
    scratch_mib: int = Field(gt=0)
    tasks: int = Field(ge=0)
    min_body_lines: int = Field(ge=1)
    max_body_lines: int = Field(ge=1)
    min_tests: int = Field(ge=1)
    min_coverage: float = Field(ge=0, le=1)
    min_mutants: int = Field(ge=1)
    max_tests: int = Field(ge=1)
    further_tests: int = Field(ge=1)
    min_words: int = Field(ge=1)
    min_words_per_line: float = Field(ge=0)
    not_a_requirement: re.Pattern[str]
    max_similarity: float = Field(gt=0, le=1)
    text_letters: int = Field(ge=1)

    @property
    def limits(self) -> Limits:
        """What one run of a project's tests may use."""
        return Limits(
            time_s=self.time_s,
            memory_bytes=self.memory_mib * _MIB,
            processes=self.processes,
            output_bytes=self.output_kib << 10,
            file_bytes=self.file_mib * _MIB,
            scratch_bytes=self.scratch_mib * _MIB,
        )

    def is_needed(self, name: str) -> bool:
        """Whether tests can need a distribution that is stated for them."""
        return canonicalize_name(name) not in self.not_needed

    def rank(self, group: str | None, file: str) -> int | None:
        """Return how well a group of requirements fits tests: 0 is for them, 1 perhaps, None for something else.

        A file of requirements among the tests is for them, whatever its group.
        """
        words = re.sub(r"[-_.\s]+", "-", (group or "").lower()).strip("-")
        if words in self.test_groups or (group is None and not self.test_folders.isdisjoint(file.split("/")[:-1])):
            return 0
        return 1 if words in self.other_groups else None
