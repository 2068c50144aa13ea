"""What the core metadata of a dependent's release says for the table `code_samples`: licence, author, where to look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from packaging.metadata import parse_email

from pipeline.index.licences import LicenceRules, spdx
from pipeline.index.manifest import parse_metadata

_LABELS = ("source", "repository", "code", "github", "homepage", "home")


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
    return About(licence, parsed.author, _address(raw.get("project_urls", {}), raw.get("home_page")))


def _address(labelled: Mapping[str, str], home: str | None) -> str | None:
    """Return the repository's address, else the home page (the labels are those of PEP 753, as people write them)."""
    ranked = [
        (place, address)
        for place, word in enumerate(_LABELS)
        for label, address in sorted(labelled.items())
        if word in label.lower()
    ]
    addresses = [*(address for _, address in sorted(ranked)), home or ""]
    return next((address for address in addresses if address.startswith(("https://", "http://"))), None)
