"""What a curator decides about own tests: which are cut out, what of them is refused, how witnesses are found."""

from __future__ import annotations

import fnmatch
import functools
import re
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator, Field

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.review import RejectReason
from pipeline.index.archives import ArchiveLimits


@functools.lru_cache(maxsize=64)
def _one_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, patterns)) or r"(?!)")


def is_named(name: str, patterns: tuple[str, ...]) -> bool:
    """Say whether a name fits one of some patterns of `fnmatch`."""
    return _one_of(patterns).match(name) is not None


class NeedRules(Rule):
    """By which calls and words of its source a program needs more than the sandbox has; callees are patterns."""

    calls: dict[RejectReason, tuple[str, ...]]
    words: dict[str, RejectReason]
    reads: re.Pattern[str]
    asks: re.Pattern[str]
    opens: tuple[str, ...]
    modes: tuple[str, ...]
    resources: tuple[str, ...]
    makes_files: frozenset[str]
    urls: tuple[str, ...]
    hosts: tuple[str, ...]
    pairs: tuple[str, ...]
    intercepts: tuple[str, ...]
    sleeps: tuple[str, ...]
    bounds: tuple[str, ...]
    replaces: tuple[str, ...]
    max_sleep_s: float = Field(gt=0)


class WitnessRules(Rule):
    """Which parts of changed tests are run to find witnesses of changes."""

    max_lines: int = Field(ge=1)
    max_columns: int = Field(ge=1)
    candidates: int = Field(ge=1)
    tests_per_change: int = Field(ge=1)
    programs_per_change: int = Field(ge=1)
    per_release: int = Field(ge=0)
    per_change: int = Field(ge=1)
    lifted_from: int = Field(ge=1)
    whole_test_s: float = Field(gt=0)
    needs: dict[RejectReason, re.Pattern[str]]

    def reason_at_home(self, failure: str) -> RejectReason:
        """Return the reason of a test that fails in its own release: by what it lacks, else NOT_PROVEN."""
        return next((reason for reason, sign in self.needs.items() if sign.search(failure)), RejectReason.NOT_PROVEN)


class WrittenRules(Rule):
    """How programs are written from changes that no test shows: values as source, and names of parameters, by type."""

    programs: int = Field(ge=0)
    per_change: int = Field(ge=1)
    naming: int = Field(ge=0)
    objects: int = Field(ge=0)
    calls: int = Field(ge=1)
    nested: int = Field(ge=0)
    derived: int = Field(ge=0)
    values_of_tests: int = Field(ge=0)
    longest_value: int = Field(ge=1)
    items: int = Field(ge=1)
    contexts: int = Field(ge=0)
    context_errors: frozenset[str]
    neighbours: int = Field(ge=0)
    neighbour_s: float = Field(gt=0)
    values: dict[str, tuple[str, ...]]
    names: dict[str, frozenset[str]]
    named: dict[str, tuple[str, ...]]
    others: tuple[str, ...] = Field(min_length=1)

    def type_of(self, parameter: str) -> str:
        """Return the type that a name of a parameter stands for, empty if none."""
        return next((each for each, names in self.names.items() if parameter in names), "")


def _spelled(tag: str, library: str, version: str) -> str:
    return tag.format(library=library, version=version, underscored_version=version.replace(".", "_"))


def _with_version(tag: str) -> str:
    try:
        spelled = _spelled(tag, "library", "1.2.3")
        is_complete = "1.2.3" in spelled or "1_2_3" in spelled
    except (LookupError, ValueError, AttributeError):
        is_complete = False
    if not is_complete:
        raise InputError(
            f"{tag!r} must have the placeholder {{version}} or {{underscored_version}};"
            " {library} is the only other one",
            code="rule_placeholder_missing",
        )
    return tag


Tag = Annotated[str, AfterValidator(_with_version)]


class OwnTestRules(Rule):
    """The rules of `curation_rules/own_tests.yaml`; sizes in bytes."""

    enabled: bool
    max_sdist_bytes: int = Field(gt=0)
    max_unpacked_bytes: int = Field(gt=0)
    max_ratio: int = Field(gt=0)
    tags: Annotated[tuple[Tag, ...], Field(min_length=1)]
    test_files: tuple[str, ...]
    test_folders: frozenset[str]
    aside: frozenset[str]
    max_lines: int = Field(ge=1)
    cases_per_test: int = Field(ge=1)
    similarity: float = Field(gt=0, le=1)
    witness: WitnessRules
    written: WrittenRules
    needs: NeedRules
    asserting: re.Pattern[str]
    secrets: frozenset[str]
    built_in_fixtures: frozenset[str]
    refused_marks: dict[str, RejectReason]
    refused_names: dict[str, RejectReason]

    @property
    def archive_limits(self) -> ArchiveLimits:
        """The limits that the archive reader takes."""
        return ArchiveLimits(self.max_unpacked_bytes, self.max_ratio)

    def tags_of(self, library: str, version: str) -> list[str]:
        """Return the tags under which a repository may have a release."""
        return [_spelled(tag, library, version) for tag in self.tags]

    @cached_property
    def _test_file(self) -> re.Pattern[str]:
        return re.compile("|".join(fnmatch.translate(pattern) for pattern in self.test_files))

    def holds_tests(self, path: str) -> bool:
        """Say whether pytest finds tests in a file, by its path in the source distribution."""
        *folders, name = path.split("/")
        return bool(self._test_file.match(name)) and not self.aside.intersection(folders)

    def is_among_tests(self, path: str) -> bool:
        """Say whether a file of the library's own package is a part of its tests."""
        *folders, name = path.split("/")
        return bool(self.test_folders.intersection(folders)) or name == "conftest.py" or self.holds_tests(path)
