"""What samples lack in their environment: modules that a requirement has, and what only the system or the net has."""

from __future__ import annotations

import ctypes
import re
import shutil
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Annotated

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pydantic import BeforeValidator, PlainSerializer

from pipeline.core.rules.load import Rule, load
from pipeline.core.settings import settings
from pipeline.execution.environments.resolution.failures import FailureRules, failure_rules

Pattern = Annotated[re.Pattern[str], BeforeValidator(re.compile), PlainSerializer(lambda p: p.pattern, str)]

_FIXTURE = re.compile(r"fixture '(\w+)' is not there")


class MissingRules(Rule):
    """The rules of `curation_rules/missing.yaml`; patterns have one group, the name of what is missing."""

    modules: dict[str, str]
    fixtures: dict[str, str]
    says_module: tuple[Pattern, ...]
    says_program: tuple[Pattern, ...]
    says_data: tuple[Pattern, ...]
    usual: tuple[str, ...]
    debian: dict[str, str]

    def requirement(self, message: str, present: Iterable[str]) -> str | None:
        """Return the requirement that has the module or fixture which a message misses; None if it is present."""
        module, fixture = _first(self.says_module, message), _first((_FIXTURE,), message)
        provider = self.modules.get(module or "") or self.fixtures.get(fixture or "")
        names = {canonicalize_name(Requirement(requirement).name) for requirement in present}
        return provider if provider and canonicalize_name(Requirement(provider).name) not in names else None

    def explain(self, message: str) -> str | None:
        """Say what of the system or of the net a failure misses, and what to do; None where it misses neither."""
        library = self._failures.missing("import", message)
        if library:
            return self.lacks(library[1])
        if data := _first(self.says_data, message):
            return (
                f"it wants data that is downloaded ({data}), and runs have no network: leave it out, or bring it along"
            )
        program = _first(self.says_program, message)
        return self.lacks(program) if program else None

    def lacks(self, name: str) -> str:
        """Say that the system lacks a library or a program, with the package of Debian that has it."""
        package = self.debian.get(name)
        return f"this system lacks {name}" + (f": install the Debian package {package}" if package else "")

    def missing(self) -> list[str]:
        """Return which of the usual libraries and programs this system lacks."""
        return [name for name in self.usual if not _is_there(name)]

    @cached_property
    def _failures(self) -> FailureRules:
        return failure_rules()


def missing_rules(folder: Path | None = None) -> MissingRules:
    """Read `missing.yaml` of a folder, by default that of the settings."""
    return load((folder or settings().rules) / "missing.yaml", MissingRules)


def _first(patterns: Iterable[re.Pattern[str]], message: str) -> str | None:
    matches = (pattern.search(message) for pattern in patterns)
    return next((match[1] for match in matches if match), None)


def _is_there(name: str) -> bool:
    if ".so" not in name:
        return shutil.which(name) is not None
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
