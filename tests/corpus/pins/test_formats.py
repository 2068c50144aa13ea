"""Each format of a project's files, and what is read of it, line by line."""

from __future__ import annotations

from textwrap import dedent

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.pins.read import read_pins
from pipeline.corpus.pins.statements import Statement

REQUIREMENTS = r"""
    # what we need
    pandas>=1.0,<2  # not yet
    numpy==1.21.6 \
        --hash=sha256:0a \
        --hash=sha256:0b
    scipy (>=1.0.*)
    requests[socks]~=2.25; python_version < "3.8"
    torch==1.13.0+cu117 --find-links https://example.org/whl
    --index-url https://example.org/simple
    -e .
    -e git+https://example.org/flask.git@2.0#egg=Flask
    https://example.org/rich-10.0.0-py3-none-any.whl
    click @ https://example.org/click.zip ; os_name == "nt"
    ./wheels/local-1.0-py3-none-any.whl
    -r more.txt
    -cconstraints.txt
"""
PEP_621 = """
    [build-system]
    requires = ["numpy==1.19.3"]
    [project]
    requires-python = ">=3.8"
    dependencies = [
        "pandas>=1.0",
        'numpy; python_version < "3.9"',
    ]
    [project.optional-dependencies]
    plot = ["matplotlib>=3"]
    [dependency-groups]
    test = ["pytest==7.0", {include-group = "lint"}]
    lint = ["ruff"]
    [tool.uv]
    dev-dependencies = ["mypy"]
    constraint-dependencies = ["scipy<2"]
    [tool.pdm.dev-dependencies]
    doc = ["sphinx==5.0", "-e file:///x#egg=x"]
    [tool.hatch.envs.default]
    dependencies = ["coverage"]
    [tool.setuptools.dynamic]
    optional-dependencies.more = {file = ["more.txt"]}
"""
POETRY = """
    [tool.poetry.dependencies]
    python = "^3.8"
    pandas = "^1.2"
    numpy = [
        {version = "1.21", python = "<3.9"},
        {version = "~1.22", python = ">=3.9", markers = "sys_platform == 'linux'"},
    ]
    flask = {git = "https://example.org/flask.git", tag = "2.0"}
    rich = {version = ">=10,<11 || ^12", optional = true}
    [tool.poetry.group.dev.dependencies]
    pytest = "*"
"""
SETUP_CFG = """
    [options]
    python_requires = >=3.7
    install_requires =
        # comment
        pandas>=1.0
        numpy; python_version < "3.9"  # old
    [options.extras_require]
    plot = matplotlib; seaborn>=0.11
"""
SETUP_PY = """
    import os, sys
    from setuptools import setup
    PANDAS = "1.0"
    install_requires = ["pandas>=%s" % PANDAS, f"numpy>={PANDAS}"]
    if sys.version_info < (3, 8):
        install_requires.append("typing_extensions")
    else:
        install_requires += ["rich"]
    extras = {"plot": ["matplotlib"], "test": "pytest\\nmock"}
    extras["all"] = extras["plot"] + ["scipy"]
    def needs(name):
        return open(os.path.join("needs", name)).read().splitlines()
    setup(
        python_requires=">=3.6",
        install_requires=install_requires + needs("more.txt") + list(ask_the_web()),
        extras_require=extras,
    )
"""
PYTHON_2 = """
    print 'hello'
    setup(install_requires='pandas numpy'.split())
"""
PIPFILE = """
    [packages]
    pandas = "*"
    numpy = {version = "==1.21.6", markers = "python_version < '3.8'"}
    flask = {git = "https://example.org/flask.git"}
    [dev-packages]
    pytest = ">=7"
    [requires]
    python_version = "3.8"
"""
PIPFILE_LOCK = """
    {"_meta": {"requires": {"python_version": "3.8"}},
     "default": {
      "pandas": {"hashes": [], "version": "==1.3.5"},
      "flask": {"git": "https://example.org/flask.git"},
      "numpy": {"version": ">=1"}},
     "develop": {
      "pytest": {"version": "==7.0.0", "markers": "python_version >= '3.6'"}}}
"""
POETRY_LOCK = """
    [[package]]
    name = "pandas"
    version = "1.3.5"
    category = "main"

    [[package]]
    name = "pytest"
    version = "7.0.0"
    groups = ["dev"]
    markers = "python_version < '3.9'"

    [[package]]
    name = "flask"
    version = "2.0"
    groups = ["main", "dev"]
    [package.source]
    type = "git"
    url = "https://example.org/flask.git"

    [metadata]
    python-versions = "^3.8"
"""
UV_LOCK = """
    requires-python = ">=3.8"

    [[package]]
    name = "pandas"
    version = "2.0.3"
    source = { registry = "https://example.org/simple" }
    resolution-markers = ["python_full_version < '3.9'"]

    [[package]]
    name = "mine"
    version = "0.1"
    source = { editable = "." }

    [[package]]
    name = "flask"
    version = "2.0"
    source = { git = "https://example.org/flask.git" }
"""
PDM_LOCK = """
    [metadata]
    groups = ["default", "test"]
    [[package]]
    name = "pandas"
    version = "1.3.5"
    groups = ["default"]
    [[package]]
    name = "pytest"
    version = "7.0.0"
    groups = ["test"]
    marker = "python_version >= '3.8'"
"""
PYLOCK = """
    lock-version = "1.0"
    created-by = "uv"
    requires-python = ">=3.9"
    [[packages]]
    name = "pandas"
    version = "2.0.3"
    sdist = { name = "pandas-2.0.3.tar.gz", url = "https://example.org/p", hashes = {sha256 = "0a"} }
    [[packages]]
    name = "pytest"
    version = "7.0.0"
    marker = "'test' in dependency_groups"
    sdist = { name = "pytest-7.0.0.tar.gz", url = "https://example.org/p", hashes = {sha256 = "0a"} }
    [[packages]]
    name = "mine"
    directory = { path = "." }
"""
CONDA = """
    name: x
    channels: [conda-forge]
    dependencies:
      - python=3.8
      - conda-forge::pandas=1.3
      - numpy=1.21.6=py38h_0
      - scipy>=1.5,<2
      - pytorch ==1.13.0
      - rich 10.*
      - matplotlib[version='>=3.3']
      - flask
      - pip:
        - click==8.0
        - -r more.txt
"""
TOX = """
    [tox]
    envlist = py38
    [testenv]
    deps =
        pytest
        py38,py39: pandas==1.3.5
        -r{toxinidir}/more.txt
        {[base]deps}
    [testenv:docs]
    deps = sphinx<5
"""
PKG_INFO = """\
    Metadata-Version: 2.1
    Requires-Python: >=3.6
    Requires-Dist: pandas (>=1.0)
    Requires-Dist: pytest ; extra == 'test'

    Requires-Dist: numpy
"""
REQUIRES_TXT = """
    pandas>=1.0

    [:python_version < "3"]
    enum34

    [test:os_name == "nt"]
    pytest
"""
CASES = {
    "requirements.txt": (
        REQUIREMENTS,
        """
        3 pandas<2,>=1.0
        4 numpy==1.21.6
        7 scipy>=1.0
        8 requests~=2.25; python_version < "3.8"
        9 torch==1.13.0+cu117
        12 flask @ an address
        13 rich==10.0.0
        14 click @ an address; os_name == "nt"
        15 local==1.0
        """,
    ),
    "pyproject.toml": (
        PEP_621,
        """
        5 python>=3.8
        7 pandas>=1.0
        8 numpy; python_version < "3.9"
        11 matplotlib>=3 [plot]
        13 pytest==7.0 [test]
        14 ruff [lint]
        16 mypy [dev]
        17 scipy<2
        19 sphinx==5.0 [doc]
        19 x @ an address [doc]
        21 coverage [default]
        """,
    ),
    "poetry/pyproject.toml": (
        POETRY,
        """
        3 python>=3.8,<4.0
        4 pandas>=1.2,<2.0
        5 numpy==1.21; python_version < "3.9"
        5 numpy>=1.22,<1.23; (python_version >= "3.9") and (sys_platform == "linux")
        9 flask @ an address
        10 rich>=10,<11 || >=12,<13 [optional]
        12 pytest [dev]
        """,
    ),
    "setup.cfg": (
        SETUP_CFG,
        """
        3 python>=3.7
        6 pandas>=1.0
        7 numpy; python_version < "3.9"
        9 matplotlib [plot]
        9 seaborn>=0.11 [plot]
        """,
    ),
    "setup.py": (
        SETUP_PY,
        """
        5 numpy>=1.0
        5 pandas>=1.0
        7 typing-extensions; python_version < "3.8"
        9 rich; python_version >= "3.8"
        10 matplotlib [all]
        10 matplotlib [plot]
        10 mock [test]
        10 pytest [test]
        11 scipy [all]
        15 python>=3.6
        """,
    ),
    "old/setup.py": (
        PYTHON_2,
        """
        3 numpy
        3 pandas
        """,
    ),
    "Pipfile": (
        PIPFILE,
        """
        3 pandas
        4 numpy==1.21.6; python_version < "3.8"
        5 flask @ an address
        7 pytest>=7 [dev]
        9 python==3.8.*
        """,
    ),
    "Pipfile.lock": (
        PIPFILE_LOCK,
        """
        2 python==3.8.*
        4 pandas==1.3.5
        5 flask @ an address
        8 pytest==7.0.0; python_version >= "3.6" [develop]
        """,
    ),
    "poetry.lock": (
        POETRY_LOCK,
        """
        2 pandas==1.3.5
        7 pytest==7.0.0; python_version < "3.9" [dev]
        13 flask @ an address
        22 python>=3.8,<4.0
        """,
    ),
    "uv.lock": (
        UV_LOCK,
        """
        2 python>=3.8
        4 pandas==2.0.3; python_full_version < "3.9"
        15 flask @ an address
        """,
    ),
    "pdm.lock": (
        PDM_LOCK,
        """
        4 pandas==1.3.5
        8 pytest==7.0.0; python_version >= "3.8" [test]
        """,
    ),
    "pylock.toml": (
        PYLOCK,
        """
        4 python>=3.9
        5 pandas==2.0.3
        9 pytest==7.0.0; "test" in dependency_groups [test]
        """,
    ),
    "environment.yml": (
        CONDA,
        """
        5 python==3.8.*
        6 pandas==1.3.*
        7 numpy==1.21.6
        8 scipy>=1.5,<2
        9 torch==1.13.0
        10 rich==10.*
        11 matplotlib>=3.3
        12 flask
        14 click==8.0
        """,
    ),
    "tox.ini": (
        TOX,
        """
        6 pytest [testenv]
        7 pandas==1.3.5 [testenv py38,py39]
        11 sphinx<5 [testenv:docs]
        """,
    ),
    "PKG-INFO": (
        PKG_INFO,
        """
        2 python>=3.6
        3 pandas>=1.0
        4 pytest; extra == "test" [test]
        """,
    ),
    "x.egg-info/requires.txt": (
        REQUIRES_TXT,
        """
        2 pandas>=1.0
        5 enum34; python_version < "3"
        8 pytest; os_name == "nt" [test]
        """,
    ),
}
REJECTS = {
    "requirements.txt": ["16: 'more.txt' is taken in", "17: 'constraints.txt' is taken in"],
    "pyproject.toml": ["23: 'more.txt' is taken in"],
    "setup.py": ["16: 'more.txt' is taken in", "16: install_requires is computed, and nothing is run: ask_the_web()"],
    "Pipfile.lock": ["6: numpy '>=1': no pinned version"],
    "environment.yml": ["15: 'more.txt' is taken in"],
    "tox.ini": ["8: 'more.txt' is taken in"],
}


BAD = {
    "requirements.txt": ("numpy\nfoo bar\n-x\n>=1\nnumpy==\n", [2, 3, 4, 5]),
    "Pipfile": ('[packages]\ntorch = "1.9"\nnumpy = "^1.21"\nx = 3\n[requires]\npython_version = "x"\n', [2, 3, 4, 6]),
    "Pipfile.lock": ('{"default": {\n"a": {"version": "==x"},\n"b": 3}}\n', [2, 3]),
    "l/Pipfile.lock": ('{"default": {\n"a": {"version" "==x"}}}', [2]),
    "poetry/pyproject.toml": ('[tool.poetry.dependencies]\na = "latest"\nb = 3\nc = ">1,<1"\n', [2, 3, 4]),
    "pyproject.toml": ("[project]\ndependencies = [\n'a ~ 1',\n]\n", [3]),
    "x/pyproject.toml": ("[project\n", [1]),
    "setup.cfg": ("[options]\npython_requires = 3\ninstall_requires =\n  a b\n", [2, 4]),
    "x/setup.cfg": ("a = 1\n", [1]),
    "tox.ini": ("[testenv]\ndeps =\n  a\n  x: b c\n", [4]),
    "poetry.lock": (
        '[[package]]\nname = "a"\n[[package]]\nversion = "1"\n[[package]]\nname = "b"\nversion = "x"\n',
        [1, 3, 5],
    ),
    "uv.lock": ('[[package]]\nname = "a"\nversion = "1"\nresolution-markers = ["x y"]\n', [1]),
    "pylock.toml": ('lock-version = "1.0"\ncreated-by = "x"\n[[packages]]\nversion = "1"\n', [1]),
    "environment.yml": ("dependencies:\n- a ==x.y\n- {b: c}\n- pip: [[1]]\n", [2, 4]),
    "x/environment.yml": ("dependencies:\n- [a\n", [3]),
    "PKG-INFO": ("Name: x\nRequires-Dist: a (1.0)\nRequires-Python: 3.8\n", [2, 3]),
    "x.egg-info/requires.txt": ("a\n[b:x y]\nc\n", [3]),
}


@pytest.mark.parametrize("path", BAD)
def test_lines_that_no_parser_likes(path: str) -> None:
    text, lines = BAD[path]
    rejects = read_pins({path: text.encode()}).rejects
    assert sorted((reject.key, reject.reason) for reject in rejects) == [
        (f"{path}:{line}", RejectReason.BAD_REQUIREMENT) for line in lines
    ]


def render(statement: Statement) -> str:
    group = f" [{statement.group}]" if statement.group else ""
    return f"{statement.words.removeprefix(f'{statement.file}:').replace(': ', ' ', 1)}{group}"


@pytest.mark.parametrize("path", CASES)
def test_a_format(path: str) -> None:
    text, expected = CASES[path]
    pins = read_pins({path: dedent(text).encode()})
    assert [render(statement) for statement in pins.statements] == dedent(expected).strip().splitlines()
    result = [f"{reject.key.removeprefix(f'{path}:')}: {reject.detail}" for reject in pins.rejects]
    expectation = REJECTS.get(path, [])
    assert [detail[: len(start)] for detail, start in zip(result, expectation, strict=True)] == expectation
