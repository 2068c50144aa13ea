"""What failures say is missing: a module that a requirement has, a library or program of the system, data of the net."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement

from pipeline.execution.environments.missing import MissingRules, missing_rules


@pytest.fixture(scope="module")
def rules() -> MissingRules:
    return missing_rules()


@pytest.mark.parametrize(
    ("message", "requirement"),
    [
        ("ModuleNotFoundError: No module named 'sklearn'", "scikit-learn"),
        (
            "ImportError: Missing optional dependency 'openpyxl'.  Use pip or conda to install openpyxl.",
            "openpyxl>=2.6",
        ),
        ("test: fixture 'mocker' is not there: define it", "pytest-mock"),
        ("ModuleNotFoundError: No module named 'PIL'", None),  # it is there
        ("ModuleNotFoundError: No module named 'sklearn.old'", None),  # not the module, but a part of it
        ("ModuleNotFoundError: No module named 'nothing_of_that_name'", None),
        ("test: fixture 'candidate' is not there: define it", None),
    ],
)
def test_what_is_added(rules: MissingRules, message: str, requirement: str | None) -> None:
    assert rules.requirement(message, ["pandas", "Pillow>=8", "pytest"]) == requirement


@pytest.mark.parametrize(
    ("message", "explained"),
    [
        ("ImportError: libGL.so.1: cannot open shared object file: No such file or directory", "package libgl1"),
        ("OSError: sndfile library not found", "package libsndfile1"),
        ("OSError: libodd.so.3: cannot open shared object file: No such file or directory", "lacks libodd.so.3"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'ffmpeg'", "package ffmpeg"),
        ("graphviz.backend.execute.ExecutableNotFound: failed to execute PosixPath('dot'), make sure the Graphviz executables are on your systems' PATH", "package graphviz"),
        ("  Searched in:\n    - '/tmp/nltk_data'\n    - 'python/share/nltk_data'\n****", "data that is downloaded (nltk_data)"),
        ("LookupError: \n*****\n  Resource punkt not found.\n  Please use the NLTK Downloader to obtain", "data that is downloaded (punkt)"),
        ("urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>", "data that is downloaded"),
        ("OSError: [E050] Can't find model 'en_core_web_sm'. It doesn't seem to be", "(en_core_web_sm)"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'", None),
        ("AssertionError", None),
    ],
)  # fmt: skip
def test_what_can_only_be_said(rules: MissingRules, message: str, explained: str | None) -> None:
    found = rules.explain(message)
    assert found is None if explained is None else explained in str(found)


def test_rules_name_requirements_and_the_usual_has_packages(rules: MissingRules) -> None:
    assert all(Requirement(text).name for text in [*rules.modules.values(), *rules.fixtures.values()])
    assert set(rules.usual) <= set(rules.debian)
    assert set(rules.missing()) <= set(rules.usual)
