"""Which release code is for, by what stands beside it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.crawl.pins import KnownVersion, read_pins, version_of
from pipeline.lake import Reject
from pipeline.terms import RejectReason, VersionEvidence

PANDAS: list[dict[str, Any]] = [
    {"version": "0.25.3", "release_time": datetime(2019, 10, 31, tzinfo=UTC), "requires_python": ">=3.5.3"},
    {"version": "1.0.5", "release_time": datetime(2020, 6, 17, tzinfo=UTC), "requires_python": ">=3.6.1"},
    {"version": "1.1.5", "release_time": datetime(2020, 12, 7, tzinfo=UTC), "requires_python": ">=3.6.1"},
    {"version": "1.2.4", "release_time": datetime(2021, 4, 12, tzinfo=UTC), "requires_python": ">=3.7.1"},
    {"version": "1.3.5", "release_time": datetime(2021, 12, 12, tzinfo=UTC), "requires_python": ">=3.7.1"},
    {"version": "1.4.0", "release_time": datetime(2022, 1, 22, tzinfo=UTC), "requires_python": ">=3.8"},
]
IN_2021 = datetime(2021, 6, 1, tzinfo=UTC)
LATER = datetime(2022, 6, 1, tzinfo=UTC)
MATRIX, PIN = VersionEvidence.DEPENDENCY_MATRIX, VersionEvidence.EXACT_PIN


@pytest.mark.parametrize(
    ("files", "as_of", "version", "evidence"),
    [
        ({"requirements.txt": "pandas"}, IN_2021, "1.2.4", MATRIX),
        ({"requirements.txt": "pandas"}, LATER, "1.4.0", MATRIX),
        ({"requirements.txt": "pandas<1.1"}, LATER, "1.0.5", MATRIX),
        ({"requirements.txt": "pandas==1.1.5"}, LATER, "1.1.5", PIN),
        ({"requirements.txt": "pandas==1.1.5", "requirements-dev.txt": "pandas==1.2.4"}, LATER, "1.1.5", PIN),
        ({"PKG-INFO": "Name: x\nRequires-Dist: pandas\nRequires-Python: <3.8\n"}, LATER, "1.3.5", MATRIX),
        ({"requirements.txt": "pandas<1.1; python_version<'3.6'\npandas<1.2"}, LATER, "1.1.5", MATRIX),
    ],
)
def test_the_strongest_evidence_decides(
    files: dict[str, str], as_of: datetime, version: str, evidence: VersionEvidence
) -> None:
    stated = read_pins({path: text.encode() for path, text in files.items()}).stated
    found = version_of("pandas", stated, PANDAS, as_of)
    assert isinstance(found, KnownVersion)
    assert (found.version, found.evidence) == (version, evidence)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("numpy", RejectReason.VERSION_UNKNOWN),
        ("pandas>3", RejectReason.VERSION_UNKNOWN),
        ("pandas @ git+https://example.org/pandas", RejectReason.VERSION_UNKNOWN),
        ("pandas==1.1.4", RejectReason.VERSION_NOT_COVERED),
    ],
)
def test_what_cannot_be_told_is_a_reject(text: str, reason: RejectReason) -> None:
    found = version_of("pandas", read_pins({"requirements.txt": text.encode()}).stated, PANDAS, LATER)
    assert isinstance(found, Reject)
    assert (found.key, found.reason) == ("pandas", reason)
