"""What a curator decides about documentation sites: `curation_rules/documentation.yaml`."""

from __future__ import annotations

import re
from typing import Annotated

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version
from pydantic import AfterValidator, Field, model_validator

from pipeline.api.surface.parse.directive_rules import Words
from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule

_PLACEHOLDER = re.compile(r"\{(?:version|series)\}")


def _version(text: str) -> str:
    try:
        Version(text)
    except InvalidVersion:
        raise InputError(f"{text!r} is not a version by PEP 440", code="version_invalid") from None
    return text


class SiteRule(Rule):
    """Where the documentation of a library stands, version by version.

    Either a project of Read the Docs, whose API lists the versions, or an address. In an address `{version}` is a
    release, `{series}` its first two numbers; one without either is the site of the release `version`, or else of
    the one that its inventory names. `public_address` is where people find the pages of a `file:` address.
    """

    library: Annotated[str, AfterValidator(lambda name: str(canonicalize_name(name)))]
    read_the_docs: str | None = None
    address: str | None = Field(None, pattern=r"^(https?://|file:///)")
    version: Annotated[str, AfterValidator(_version)] | None = None
    public_address: str | None = None

    @model_validator(mode="after")
    def _single_place(self) -> SiteRule:
        if (self.read_the_docs is None) == (self.address is None):
            raise InputError(
                "give either read_the_docs (the slug of the project) or address", code="rule_contradiction"
            )
        if _PLACEHOLDER.search(self.public_address or "") and not (self.version or self.has_placeholder):
            raise InputError(
                "public_address has a placeholder, and neither address nor version tells what it stands for",
                code="rule_contradiction",
            )
        return self

    @property
    def is_here(self) -> bool:
        """Whether it can be read without a network."""
        return self.address is not None and self.address.startswith("file:")

    @property
    def names_release(self) -> bool:
        """Whether the address has the release in it."""
        return "{version}" in (self.address or "")

    @property
    def has_placeholder(self) -> bool:
        """Whether there is one site for each release or series."""
        return _PLACEHOLDER.search(self.address or "") is not None

    def places(self, version: str | None) -> tuple[str, str | None]:
        """Return the address of the site of a release, and where people find it."""
        return self._filled(self.address or "", version), self.public_address and self._filled(
            self.public_address, version
        )

    def _filled(self, text: str, version: str | None) -> str:
        if version is None:
            return text
        series = ".".join(str(part) for part in Version(version).release[:2])
        return text.replace("{version}", version).replace("{series}", series)


class SiteLimits(Rule):
    """How much of a site is read: bytes of a page and of an unpacked inventory, pages, and failures in a row.

    An answer of Read the Docs' API is kept for `keep_answers_hours`.
    """

    max_page_bytes: int = Field(gt=0)
    max_inventory_bytes: int = Field(gt=0)
    max_pages: int = Field(gt=0)
    unreachable_in_a_row: int = Field(gt=0)
    keep_answers_hours: float = Field(ge=0)


class DocumentationRules(Rule):
    """The rules of `curation_rules/documentation.yaml`."""

    limits: SiteLimits
    excluded_pages: tuple[Words, ...]
    languages: frozenset[str]
    sites: tuple[SiteRule, ...]

    def sites_of(self, library: str) -> list[SiteRule]:
        """Return the sites of a library."""
        return [site for site in self.sites if site.library == library]

    def wants_blocks(self, page: str) -> bool:
        """Return whether the blocks of code of a page are taken, by its path on the site."""
        return not any(words.pattern.search(page) for words in self.excluded_pages)
