"""Profiles: which libraries a refresh collects, and which range of their releases."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule, RuleError, load
from pipeline.core.settings import settings
from pipeline.core.spelling import did_you_mean
from pipeline.core.vocabularies.samples import ExternalSource


def _specifier(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise InputError(
            f"{text!r} is not a version specifier by PEP 440; write for example '>=1.3,<2.3'",
            code="version_range_invalid",
        ) from None
    return text


class LibraryRule(Rule):
    """A library of a profile: a PEP 440 range of its releases, and at most so many of the newest in it."""

    library: Annotated[str, AfterValidator(lambda name: str(canonicalize_name(name)))]
    versions: Annotated[str, AfterValidator(_specifier)] = ""
    latest: int | None = Field(None, ge=2)


class CodeRule(Rule):
    """Where a profile takes real code from, and its first day and the day after its last, where it has such."""

    sources: tuple[ExternalSource, ...] = tuple(ExternalSource)
    since: date | None = None
    until: date | None = None


class Profile(Rule):
    """A named set of libraries; `name` is part of the name of its snapshots."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    libraries: Annotated[tuple[LibraryRule, ...], BeforeValidator(lambda value: _each(value)), Field(min_length=1)]
    code: CodeRule = CodeRule()

    @field_validator("libraries")
    @classmethod
    def _once(cls, libraries: tuple[LibraryRule, ...]) -> tuple[LibraryRule, ...]:
        names = [rule.library for rule in libraries]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InputError(f"listed twice: {', '.join(twice)}", code="rule_entry_twice")
        return libraries

    def rule_of(self, library: str) -> LibraryRule:
        """Return the rule of a library; one that the profile does not list is taken with its newest six releases."""
        name = canonicalize_name(library)
        rules = [rule for rule in self.libraries if rule.library == name]
        return rules[0] if rules else LibraryRule(library=name, latest=6)


def _each(value: Any) -> Any:
    """Let a curator write a bare name for a library of which everything is wanted."""
    return (
        [{"library": item} if isinstance(item, str) else item for item in value] if isinstance(value, list) else value
    )


def profile_names() -> list[str]:
    """Return the names of the profiles that exist, sorted."""
    return sorted(path.stem for path in (settings().rules / "profiles").glob("*.yaml"))


def load_profile(name: str) -> Profile:
    """Load a profile from `curation_rules/profiles/`.

    Errors: RuleError where there is none of that name, or its file is wrong.
    """
    if name not in profile_names():
        folder = settings().rules / "profiles"
        names = profile_names()
        near = did_you_mean(name, names)
        raise RuleError(
            f"no profile {name!r} in {folder}{near}; there are: {', '.join(names) or 'none'}", code="profile_unknown"
        )
    profile = load(settings().rules / "profiles" / f"{name}.yaml", Profile)
    if profile.name != name:
        raise RuleError(
            f"{name}.yaml: its name says {profile.name!r}; name file and profile alike", code="profile_misnamed"
        )
    return profile
