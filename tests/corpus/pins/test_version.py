"""Which release code is for, by what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import VersionEvidence
from pipeline.corpus.pins.matrix import published_in
from pipeline.corpus.pins.pythons import RELEASED
from pipeline.corpus.pins.read import read_pins
from pipeline.corpus.pins.version import ResolvedVersion, version_of
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.lake.stage import Reject

PANDAS: list[Any] = [
    {"version": "0.25.3", "release_time": datetime(2019, 10, 31, tzinfo=UTC), "requires_python": ">=3.5.3"},
    {"version": "1.0.5", "release_time": datetime(2020, 6, 17, tzinfo=UTC), "requires_python": ">=3.6.1"},
    {"version": "1.1.5", "release_time": datetime(2020, 12, 7, tzinfo=UTC), "requires_python": ">=3.6.1"},
    {"version": "1.2.4", "release_time": datetime(2021, 4, 12, tzinfo=UTC), "requires_python": ">=3.7.1"},
    {"version": "1.3.5", "release_time": datetime(2021, 12, 12, tzinfo=UTC), "requires_python": ">=3.7.1"},
    {"version": "1.4.0", "release_time": datetime(2022, 1, 22, tzinfo=UTC), "requires_python": ">=3.8"},
]
IN_2021 = datetime(2021, 6, 1, tzinfo=UTC)
LATER = datetime(2022, 6, 1, tzinfo=UTC)
EXTRAS = "[options]\ninstall_requires = {main}\n[options.extras_require]\nmore = {extra}\n"
MATRIX, PIN = VersionEvidence.DEPENDENCY_MATRIX, VersionEvidence.EXACT_PIN


LOCK = VersionEvidence.LOCK


def locked(*packages: str) -> str:
    """A poetry.lock: `pandas 1.3.5`, with a marker and a group behind it if need be."""
    result = []
    for package in packages:
        name, version, *more = package.split(" ", 3)
        group = more[0] if more else "main"
        marker = f'markers = "{more[1]}"\n' if more[1:] else ""
        result.append(f'[[package]]\nname = "{name}"\nversion = "{version}"\ngroups = ["{group}"]\n{marker}')
    return "\n".join(result)


def resolve_version(files: dict[str, str], as_of: datetime, file: str | None = None) -> ResolvedVersion | Reject:
    pins = read_pins({path: text.encode() for path, text in files.items()})
    assert not pins.rejects
    return version_of("pandas", pins.statements, PANDAS, as_of, file=file)


CASES: list[tuple[str, dict[str, str], datetime, str, VersionEvidence]] = [
    ("the newest on the day", {"requirements.txt": "pandas"}, IN_2021, "1.2.4", MATRIX),
    ("the newest later", {"requirements.txt": "pandas"}, LATER, "1.4.0", MATRIX),
    ("an upper bound", {"requirements.txt": "pandas<1.1"}, LATER, "1.0.5", MATRIX),
    ("bounds of two files", {"requirements.txt": "pandas>1", "constraints.txt": "pandas<1.3"}, LATER, "1.2.4", MATRIX),
    ("an exact pin", {"requirements.txt": "pandas==1.1.5"}, LATER, "1.1.5", PIN),
    ("a pin with more than one word", {"requirements.txt": "pandas==1.1.5,!=1.2"}, LATER, "1.1.5", PIN),
    ("a pin of what came later", {"requirements.txt": "pandas==1.4.0"}, IN_2021, "1.4.0", PIN),
    ("a pin spelled otherwise", {"requirements.txt": "Pandas===1.4"}, LATER, "1.4.0", PIN),
    ("a build of a release", {"requirements.txt": "pandas==1.4.0+cu117"}, LATER, "1.4.0", PIN),
    ("a prefix of one release", {"environment.yml": "dependencies: [pandas=1.3.5]"}, LATER, "1.3.5", PIN),
    ("a prefix of several", {"environment.yml": "dependencies: [pandas=1]"}, LATER, "1.4.0", MATRIX),
    (
        "the project's pin before a group's",
        {"requirements.txt": "pandas==1.1.5", "requirements-dev.txt": "pandas==1.2.4"},
        LATER,
        "1.1.5",
        PIN,
    ),
    ("a group's pin", {"setup.cfg": EXTRAS.format(main="pandas", extra="pandas==1.2.4")}, LATER, "1.2.4", PIN),
    ("only a group asks", {"setup.cfg": EXTRAS.format(main="numpy", extra="pandas<1.3")}, LATER, "1.2.4", MATRIX),
    (
        "groups that pin differently",
        {"requirements.txt": "pandas", "a-requirements.txt": "pandas==1.0.5", "b-requirements.txt": "pandas==1.2.4"},
        LATER,
        "1.4.0",
        MATRIX,
    ),
    (
        "a group's pin that the project excludes",
        {"requirements.txt": "pandas>=1.2", "requirements-old.txt": "pandas==1.0.5"},
        LATER,
        "1.4.0",
        MATRIX,
    ),
    # scrapy 2.9.0: tox.ini [testenv:pinned] w3lib==1.17.0 beside w3lib>=1.17.0
    (
        "a group that tries the lower bound",
        {"PKG-INFO": "Requires-Dist: pandas>=1.0.5\n", "tox.ini": "[testenv:extra]\ndeps = pandas==1.0.5"},
        LATER,
        "1.4.0",
        MATRIX,
    ),
    # flask-security-too 4.1.4: tox.ini low: flask==1.1.4; apiflask: min-versions.txt
    (
        "a group whose name says that it tries the oldest",
        {"PKG-INFO": "Requires-Dist: pandas\n", "requirements/min-versions.txt": "pandas==1.0.5"},
        LATER,
        "1.4.0",
        MATRIX,
    ),
    # jinja2 3.1.1: requirements/docs.txt has markupsafe==2.0.1 beside MarkupSafe>=2.0
    (
        "a group for the documentation",
        {
            "src/x.egg-info/requires.txt": "pandas",
            "requirements/docs.txt": "pandas==1.1.5",
            "requirements/dev.txt": "-r docs.txt",
        },
        LATER,
        "1.4.0",
        MATRIX,
    ),
    (
        "a marker that does not hold",
        {"requirements.txt": "pandas<1.1; python_version<'3.6'\npandas<1.2"},
        LATER,
        "1.1.5",
        MATRIX,
    ),
    (
        "the Pythons that the project admits",
        {"PKG-INFO": "Requires-Dist: pandas\nRequires-Python: <3.8\n"},
        LATER,
        "1.3.5",
        MATRIX,
    ),
    ("a lock before a pin", {"poetry.lock": locked("pandas 1.1.5"), "r.txt": ""}, LATER, "1.1.5", LOCK),
    (
        "a lock before a pin of an older file",
        {"poetry.lock": locked("pandas 1.1.5"), "requirements-dev.txt": "pandas==1.2.4"},
        LATER,
        "1.1.5",
        LOCK,
    ),
    (
        "a stale lock",
        {"poetry.lock": locked("pandas 1.1.5"), "requirements.txt": "pandas>=1.3"},
        LATER,
        "1.4.0",
        MATRIX,
    ),
    (
        "a lock with a release for each Python: the newest Python",
        {"poetry.lock": locked("pandas 1.1.5 main python_version<'3.8'", "pandas 1.3.5 main python_version>='3.8'")},
        LATER,
        "1.3.5",
        LOCK,
    ),
    (
        "a lock with a release for each Python: the one that the project admits",
        {
            "poetry.lock": locked("pandas 1.1.5 main python_version<'3.8'", "pandas 1.3.5 main python_version>='3.8'"),
            "PKG-INFO": "Requires-Python: ~=3.7.0\n",
        },
        LATER,
        "1.1.5",
        LOCK,
    ),
    ("a lock's group", {"poetry.lock": locked("pandas 1.1.5 dev")}, LATER, "1.1.5", LOCK),
    (
        "a lock that leaves it open",
        {"poetry.lock": locked("pandas 1.1.5", "pandas 1.3.5"), "requirements.txt": "pandas<1.4"},
        LATER,
        "1.3.5",
        MATRIX,
    ),
    (
        "alternatives of Poetry",
        {"pyproject.toml": '[tool.poetry.dependencies]\npandas = "<1.0 || ~1.2"'},
        LATER,
        "1.2.4",
        MATRIX,
    ),
]


@pytest.mark.parametrize(
    ("files", "as_of", "version", "evidence"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_the_strongest_evidence_decides(
    files: dict[str, str], as_of: datetime, version: str, evidence: VersionEvidence
) -> None:
    result = resolve_version(files, as_of)
    assert isinstance(result, ResolvedVersion)
    assert (result.version, result.evidence) == (version, evidence)


@pytest.mark.parametrize(
    ("files", "reason", "detail"),
    [
        ({"requirements.txt": "numpy"}, RejectReason.VERSION_UNKNOWN, "no requirement, pin or lock names it"),
        ({"requirements.txt": "pandas>3"}, RejectReason.VERSION_UNKNOWN, "requirements.txt:1: pandas>3: no release"),
        ({"r/requirements.txt": "pandas @ git+https://x.org/p"}, RejectReason.VERSION_UNKNOWN, "r/requirements.txt:1:"),
        ({"requirements.txt": "pandas==1.1.4"}, RejectReason.VERSION_NOT_COVERED, "pandas 1.1.4 (requirements.txt:1:"),
        ({"requirements.txt": "pandas==1.0.5\npandas==1.2.4"}, RejectReason.VERSION_UNKNOWN, "requirements.txt:1:"),
        ({"requirements.txt": "pandas; os_name=='nt'"}, RejectReason.VERSION_UNKNOWN, "requirements.txt:1: pandas;"),
        (
            {"poetry.lock": locked("pandas 1.1.5", "pandas 1.3.5")},
            RejectReason.VERSION_UNKNOWN,
            "a lock names it in more",
        ),
        (
            {"PKG-INFO": "Requires-Dist: pandas\nRequires-Python: >=3.14\n"},
            RejectReason.VERSION_UNKNOWN,
            "the project admits no Python that existed on 2022-06-01",
        ),
    ],
)
def test_an_unknown_version_is_a_reject(files: dict[str, str], reason: RejectReason, detail: str) -> None:
    result = resolve_version(files, LATER)
    assert isinstance(result, Reject)
    assert (result.key, result.reason, result.detail[: len(detail)]) == ("pandas", reason, detail)


TREE = {
    "requirements.txt": "pandas==1.0.5",
    "docs/requirements.txt": "pandas==1.1.5",
    "services/one/requirements/base.txt": "pandas==1.2.4",
    "services/two/pyproject.toml": '[project]\ndependencies = ["pandas>1.2"]',
    "services/poetry.lock": locked("pandas 1.3.5"),
}


@pytest.mark.parametrize(
    ("file", "version"),
    [
        ("src/x/a.py", "1.0.5"),
        ("docs/conf.py", "1.1.5"),
        ("services/one/a.py", "1.2.4"),
        ("services/two/src/a.py", "1.3.5"),
        ("services/three/a.py", "1.3.5"),
        (None, "1.0.5"),
    ],
)
def test_the_nearest_statement_counts(file: str | None, version: str) -> None:
    result = resolve_version(TREE, LATER, file)
    assert isinstance(result, ResolvedVersion)
    assert result.version == version


def test_a_lake_with_gaps_is_not_the_index() -> None:
    statements = read_pins({"requirements.txt": b"pandas"}).statements
    published = published_in(PANDAS)
    version = version_of("pandas", statements, PANDAS[:-1], LATER, published=published)
    assert isinstance(version, Reject)
    assert version.reason is RejectReason.VERSION_NOT_COVERED


def test_words_name_place_and_day() -> None:
    result = resolve_version({"requirements.txt": "# x\npandas>=1", "PKG-INFO": "Requires-Dist: pandas>=1\n"}, IN_2021)
    assert isinstance(result, ResolvedVersion)
    assert result.words == "PKG-INFO:1: pandas>=1, newest on 2021-06-01 for Python 3.9"


def test_a_resolved_version_goes_before_the_newest() -> None:
    requests: list[tuple[str, list[str], str]] = []

    def narrow(library: str, requirements: Sequence[str], python: str, as_of: datetime) -> str | None:
        requests.append((library, list(requirements), python))
        return "1.1.5"

    files = {
        "requirements.txt": b"pandas>=1\nnumpy<1.20; python_version>'3'\nx; os_name=='nt'",
        "dev/reqs.txt": b"scipy",
    }
    version = version_of("pandas", read_pins(files).statements, PANDAS, LATER, narrow=narrow)
    assert isinstance(version, ResolvedVersion)
    assert (version.version, version.evidence) == ("1.1.5", MATRIX)
    assert version.words.endswith("narrowed by the other requirements")
    assert requests == [("pandas", ["pandas>=1", "numpy<1.20"], "3.10")]


def test_an_older_python_is_resolved_for_where_the_newest_has_no_wheels() -> None:
    requests: list[str] = []

    def narrow(library: str, requirements: Sequence[str], python: str, as_of: datetime) -> str | None:
        requests.append(python)
        return "1.2.4" if python == "3.8" else None

    version = version_of("pandas", read_pins({"requirements.txt": b"pandas"}).statements, PANDAS, LATER, narrow=narrow)
    assert isinstance(version, ResolvedVersion)
    assert (version.version, requests) == ("1.2.4", ["3.10", "3.9", "3.8"])


def test_the_days_of_pythons_are_those_of_the_environments() -> None:
    rules = environment_rules()
    assert {python: day for python, day in RELEASED.items() if python in rules.python_released} == rules.python_released
