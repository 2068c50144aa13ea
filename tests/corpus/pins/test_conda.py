"""Conda's match specifications, as they stand in real environments."""

from __future__ import annotations

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.pins.conda import match_spec
from pipeline.corpus.pins.statements import Statement, StatementKind
from pipeline.lake.stage import Reject

RANGE, PIN = StatementKind.RANGE, StatementKind.EXACT_PIN


@pytest.mark.parametrize(
    ("text", "library", "specifier", "kind"),
    [
        ("numpy", "numpy", "", RANGE),
        ("numpy *", "numpy", "", RANGE),
        ("numpy=1.21", "numpy", "==1.21.*", RANGE),
        ("numpy =1.21", "numpy", "==1.21.*", RANGE),
        ("numpy=1.21.*", "numpy", "==1.21.*", RANGE),
        ("numpy 1.21", "numpy", "==1.21", PIN),
        ("numpy==1.21.6", "numpy", "==1.21.6", PIN),
        ("numpy==1.21.*", "numpy", "==1.21.*", RANGE),
        ("numpy=1.21.6=py38h_0", "numpy", "==1.21.6", PIN),
        ("numpy==1.21.6=py38h_0", "numpy", "==1.21.6", PIN),
        ("numpy 1.21.6 py38h_0", "numpy", "==1.21.6", PIN),
        ("conda-forge::pytorch=2.1.0=*mkl*100", "torch", "==2.1.0", PIN),
        ("conda-forge:pip=23.3.1", "pip", "==23.3.1.*", RANGE),
        ("conda-forge/linux-64::h5py=3.10.0", "h5py", "==3.10.0.*", RANGE),
        ("conda-forge::cudatoolkit==11.3.*", "cudatoolkit", "==11.3.*", RANGE),
        ("python >= 3.6", "python", ">=3.6", RANGE),
        ("python>=3.6, <3.9", "python", ">=3.6,<3.9", RANGE),
        ("numpy >=1.20,!=1.21|2.*", "numpy", ">=1.20,!=1.21 || ==2.*", RANGE),
        ("scipy~=1.5", "scipy", "~=1.5", RANGE),
        ("Matplotlib-base[version='>=3.3,<4', build=x]", "matplotlib", ">=3.3,<4", RANGE),
        ("numpy[version=1.21.6]", "numpy", "==1.21.6", PIN),
        ("numpy  # what we need", "numpy", "", RANGE),
    ],
)
def test_a_specification(text: str, library: str, specifier: str, kind: StatementKind) -> None:
    statement = match_spec(text, "environment.yml", 1, None, {"pytorch": "torch", "matplotlib-base": "matplotlib"})
    assert isinstance(statement, Statement)
    assert (statement.library, statement.specifier, statement.kind) == (library, specifier, kind)


@pytest.mark.parametrize("text", ["{{ package }}", "numpy=1.x.y", "numpy>=", "a b c d", "https://example.org/x.conda"])
def test_no_specification(text: str) -> None:
    result = match_spec(text, "environment.yml", 7, None, {})
    assert isinstance(result, Reject)
    assert (result.key, result.reason) == ("environment.yml:7", RejectReason.BAD_REQUIREMENT)
