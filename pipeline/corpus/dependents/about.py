"""What the core metadata of a dependent's release says for the table `code_samples`: licence, author, where to look."""

from __future__ import annotations

import re
from dataclasses import dataclass

from packaging.metadata import RawMetadata, parse_email

from pipeline.index.licences import LicenceRules, spdx
from pipeline.index.manifest import parse_metadata

_LABELS = ("source", "repository", "code", "github", "homepage", "home")
_GITHUB = re.compile(r"https?://(?:www\.)?github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?(?:[/#?].*)?$")
"""The address of a repository, or of a page of it."""


@dataclass(frozen=True, slots=True)
class About:
    """The SPDX licence and the author of a release, and an address where a person can look at the project."""

    licence: str | None
    attribution: str | None
    url: str | None


def read_about(metadata: str, licences: LicenceRules) -> About:
    """Read core metadata, of which any field may be missing or wrong."""
    parsed = parse_metadata(metadata)
    licence, _ = spdx(parsed.licence_expression, parsed.licence_text, parsed.classifiers, licences)
    raw, _ = parse_email(metadata)
    return About(licence, parsed.author, next(iter(_addresses(raw)), None))


def github_repository(metadata: str) -> str | None:
    """Return OWNER/NAME of the repository on GitHub that core metadata name, None if they name none."""
    raw, _ = parse_email(metadata)
    named = map(_GITHUB.match, _addresses(raw))
    return next((each[1] for each in named if each), None)


def _addresses(raw: RawMetadata) -> list[str]:
    """Return addresses of a project, its repository first (the labels are those of PEP 753, as people write them)."""
    ranked = [
        (place, address)
        for place, word in enumerate(_LABELS)
        for label, address in sorted(raw.get("project_urls", {}).items())
        if word in label.lower()
    ]
    addresses = [*(address for _, address in sorted(ranked)), raw.get("home_page", "")]
    return [address for address in addresses if address.startswith(("https://", "http://"))]
