"""Trees of projects: what is imported, tested and traced of them, what their tests ask for, and archives that lie."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping

import pytest

from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.test_dependencies import Requirements, requirements_of_tests
from pipeline.families.repository_tasks.tree import Tree, read_tree
from pipeline.index.archives import BadArchive, UnsafeArchive
from tests.families.repository_tasks.conftest import FILES, tree


def packed(files: Mapping[str, bytes], link: str | None = None) -> io.BytesIO:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        if link:
            member = tarfile.TarInfo("shop-1.0/link")
            member.type, member.linkname = tarfile.SYMTYPE, link
            archive.addfile(member)
    return target


def test_a_tree_is_read_below_its_folder_and_packed_again(rules: RepositoryRules) -> None:
    files = {path: text.encode() for path, text in FILES.items()}
    read = read_tree(packed({f"shop-1.0/{path}": content for path, content in files.items()}), rules)
    assert (read.root, read.import_root, dict(read.files)) == ("shop-1.0", "src", files)
    assert read.packages(["shop", "elsewhere"]) == ["shop"]
    assert read.sources(["shop"]) == ["src/shop/__init__.py", "src/shop/money.py", "src/shop/prices.py"]
    assert read.test_files == ["tests/test_prices.py"]
    assert read_tree(io.BytesIO(read.archive), rules).files == files
    assert read.archive == read_tree(packed(files), rules).archive


@pytest.mark.parametrize(
    ("files", "import_root", "packages", "sources"),
    [
        (["a/__init__.py", "a/tests/test_a.py", "a/testing/x.py"], "", ["a"], ["a/__init__.py"]),
        (["six.py", "test_six.py"], "", ["six"], ["six.py"]),
        (["src/a/__init__.py", "a/old.py"], "src", ["a"], ["src/a/__init__.py"]),
        (["lib/__init__.py", "lib/x.py"], "", ["lib"], ["lib/__init__.py", "lib/x.py"]),
        (["setup.py"], "", [], []),
    ],
)
def test_layouts(
    rules: RepositoryRules, files: list[str], import_root: str, packages: list[str], sources: list[str]
) -> None:
    made = tree(rules, dict.fromkeys(files, ""))
    named = made.packages(["a", "six", "lib"])
    assert (made.import_root, named, made.sources(named)) == (import_root, packages, sources)


def test_of_many_files_of_tests_the_same_ones_are_taken(rules: RepositoryRules) -> None:
    files = dict.fromkeys([f"tests/test_{number}.py" for number in range(50)], "")
    few = rules.model_copy(update={"files": 5})
    taken = tree(few, files).test_files
    assert len(taken) == 5
    assert tree(few, dict(reversed(files.items()))).test_files == taken


@pytest.mark.parametrize(
    ("archive", "error"),
    [
        (packed({"../evil.py": b""}), UnsafeArchive),
        (packed({"/etc/evil.py": b""}), UnsafeArchive),
        (packed({"shop-1.0/a.py": b""}, link="../../etc/passwd"), UnsafeArchive),
        (packed({"shop-1.0/zeros": bytes(16 << 20)}), UnsafeArchive),
        (io.BytesIO(b"no archive at all"), BadArchive),
        (io.BytesIO(packed(dict.fromkeys("abc", b"x" * 5000)).getvalue()[:60]), BadArchive),
    ],
    ids=["climbs", "absolute", "link out", "bomb", "none", "cut off"],
)
def test_archives_that_lie_are_refused(rules: RepositoryRules, archive: io.BytesIO, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_tree(archive, rules.model_copy(update={"max_ratio": 10}))


ASKS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "nothing stated": ({}, ("pytest",)),
    "an extra of pyproject.toml": (
        {
            "pyproject.toml": '[project]\nname="a"\nversion="1"\n[project.optional-dependencies]\ntest=["mock>=3", "pytest-cov"]\n'
        },
        ("mock>=3", "pytest"),
    ),
    "tox": (
        {"tox.ini": "[testenv]\ndeps =\n    pytest\n    hypothesis\n[testenv:docs]\ndeps = sphinx\n"},
        ("hypothesis", "pytest"),
    ),
    "a file that tox takes in": (
        {
            "tox.ini": "[testenv]\ndeps = -r requirements/tests.txt\n",
            "requirements/tests.txt": "pytest==7.4.4\nidna==3.6\n",
        },
        ("idna==3.6", "pytest==7.4.4"),
    ),
    "a pin counts before a range": (
        {"requirements/tests.in": "pytest\nidna>=2\n", "requirements/tests.txt": "pytest==7.4.4\nidna==3.6\n"},
        ("idna==3.6", "pytest==7.4.4"),
    ),
    "a file among the tests": ({"tests/requirements.txt": "pretend\n"}, ("pretend", "pytest")),
    "development only where nothing is for tests": ({"requirements-dev.txt": "mock\nmypy\n"}, ("mock", "pytest")),
    "not those of development": (
        {"requirements-dev.txt": "nose\n", "requirements-test.txt": "mock\n"},
        ("mock", "pytest"),
    ),
    "what tests ask for may be nothing that is needed": (
        {"requirements-dev.txt": "setuptools\n", "requirements-test.txt": "coverage\n"},
        ("pytest",),
    ),
    "the project itself and other projects": (
        {"requirements-test.txt": "shop\n", "examples/a/requirements-test.txt": "django\n"},
        ("pytest",),
    ),
    "pytest for some Pythons only": (
        {"requirements-test.txt": "pytest==4.6.11; python_version < '3.6'\n"},
        ("pytest",),
    ),
    "addresses and what nobody can read": (
        {"requirements-test.txt": "git+https://x.org/y\n%%%\nmock\n"},
        ("mock", "pytest"),
    ),
}


@pytest.mark.parametrize(("files", "asked"), ASKS.values(), ids=ASKS)
def test_what_tests_ask_for(rules: RepositoryRules, files: dict[str, str], asked: tuple[str, ...]) -> None:
    made = Tree("", {path: text.encode() for path, text in files.items()}, rules)
    assert requirements_of_tests(made, "shop", rules).requirements == asked


def test_what_cannot_be_met_together_is_asked_for_by_name() -> None:
    asked = Requirements(("idna==3.6", "pytest==7.4.4"), ())
    assert list(asked.attempts()) == [("idna==3.6", "pytest==7.4.4"), ("idna", "pytest"), ("pytest",)]
    assert list(Requirements(("pytest",), ()).attempts()) == [("pytest",)]
