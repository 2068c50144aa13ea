"""What setup.py scripts hand to `setup`: idioms of real projects, read and never run."""

from __future__ import annotations

from textwrap import dedent

import pytest

from pipeline.corpus.pins.read import read_pins

SCRIPTS: list[tuple[str, str, dict[str, str], list[str]]] = [
    (
        # dash 2.8.1
        "a function that puts the name of a file together",
        """
        def read_req_file(req_type):
            with open(f"requires-{req_type}.txt") as fp:
                return [line.strip() for line in fp]
        setup(install_requires=read_req_file("install"), extras_require={"dev": read_req_file("dev")})
        """,
        {"requires-install.txt": "flask>=1", "requires-dev.txt": "pytest"},
        ["flask>=1", "pytest [dev]"],
    ),
    (
        # flask-restx 1.0.5
        "a template with places",
        """
        def pip(filename):
            return [line for line in open(os.path.join("requirements", "{0}.pip".format(filename)))]
        setup(install_requires=pip("install"), tests_require=pip("test"))
        """,
        {"requirements/install.pip": "flask>=1", "requirements/test.pip": "pytest"},
        ["flask>=1", "pytest [test]", "pytest [tests]"],
    ),
    (
        # celery 5.2.7
        "a folder that the script leaves out of the name",
        """
        def reqs(*f):
            return _pip_requirement(os.path.join(os.getcwd(), "requirements", *f))
        setup(install_requires=reqs("default.txt"))
        """,
        {"requirements/default.txt": "kombu>=5"},
        ["kombu>=5"],
    ),
    (
        # lifelines 0.27.4
        "a file that is open under a name",
        """
        with open("reqs/base-requirements.txt") as f:
            REQUIREMENTS = f.read().splitlines()
        setup(install_requires=REQUIREMENTS)
        """,
        {"reqs/base-requirements.txt": "pandas>=1\nnumpy"},
        ["numpy", "pandas>=1"],
    ),
    (
        # eth-utils 1.10: an extra that is put together of itself and others
        "an extra that has itself in it",
        """
        extras_require = {"lint": ["flake8==3.7.9"], "test": ["pytest>=5"], "dev": ["twine"]}
        extras_require["dev"] = extras_require["dev"] + extras_require["lint"] + extras_require["test"]
        setup(extras_require=extras_require)
        """,
        {},
        ["flake8==3.7.9 [dev]", "flake8==3.7.9 [lint]", "pytest>=5 [dev]", "pytest>=5 [test]", "twine [dev]"],
    ),
    (
        "lists that grow, under conditions and without",
        """
        REQS = ["six"]
        REQS = REQS + ["attrs"]
        if sys.version_info[0] == 2:
            REQS += ["futures"]
        elif sys.version_info < (3, 8) and sys.platform != "win32":
            REQS.extend(["typing"])
        if "bdist_wheel" not in sys.argv:
            REQS.append("wheel")
        setup(install_requires=REQS[:])
        """,
        {},
        [
            "attrs",
            'futures; python_version >= "2" and python_version < "3"',
            "six",
            'typing; (python_version < "2" or python_version >= "3") and (python_version < "3.8" and'
            ' sys_platform != "win32")',
            "wheel",
        ],
    ),
    (
        "keywords in a dict, which is changed before it is handed over",
        """
        kwargs = dict(name="x", install_requires=["six"])
        kwargs["extras_require"] = {"a:python_version<'3'": ["b"], ":os_name=='nt'": "c"}
        kwargs.update({"python_requires": ">=3"})
        setuptools.setup(**kwargs)
        """,
        {},
        ['b; python_version < "3" [a]', 'c; os_name == "nt"', "python>=3", "six"],
    ),
    (
        "one string of lines, and none",
        '''
        setup(install_requires="""
            six
            # not this
            attrs>=1
        """, tests_require=None)
        ''',
        {},
        ["attrs>=1", "six"],
    ),
    (
        # optuna 3.0.5
        "a function that returns a list",
        """
        def get_install_requires():
            requirements = ["alembic>=1.5", "numpy"]
            return requirements
        def get_tests_require():
            requirements = ["pytest"]
            return requirements
        setup(install_requires=get_install_requires())
        """,
        {},
        ["alembic>=1.5", "numpy"],
    ),
    (
        # autogluon.core 0.5.2
        "a list that is made anew of itself",
        """
        install_requires = ["numpy", "pandas"]
        install_requires = ag.get_dependency_version_ranges(install_requires)
        extra = ["six", "attrs"]
        extra = sorted(set(extra) | {"mock"})
        setup(install_requires=install_requires, extras_require={"more": extra})
        """,
        {},
        [
            "! setup.py:3: install_requires is computed, and nothing is run:"
            " ag.get_dependency_version_ranges(install_requires)",
            "attrs [more]",
            "mock [more]",
            "six [more]",
        ],
    ),
    (
        # statsmodels 0.14.0
        "a file that is gone through line by line",
        """
        REQ = []
        with open("requirements.txt") as req:
            for line in req.readlines():
                REQ.append(line.split("#")[0].strip())
        for one in ("six", "attrs"):
            REQ.append(one)
        setup(install_requires=REQ)
        """,
        {"requirements.txt": "numpy>=1.18"},
        ["attrs", "numpy>=1.18", "six"],
    ),
    (
        "all extras together",
        """
        extras = {"a": ["x"], "b": ["y"]}
        extras["all"] = sum(extras.values(), [])
        extras["more"] = list(itertools.chain(*extras.values()))
        setup(extras_require=extras)
        """,
        {},
        ["x [a]", "x [all]", "x [more]", "y [all]", "y [b]", "y [more]"],
    ),
    (
        # buildbot 1.0.0
        "a name with a bound that nobody can tell",
        """
        setup(install_requires=["Twisted " + twisted_ver(), "numpy>=" + astropy.__minimum_numpy_version__])
        """,
        {},
        [
            "! setup.py:2: install_requires is computed, and nothing is run: 'Twisted ' + twisted_ver()",
            "! setup.py:2: install_requires is computed, and nothing is run:"
            " 'numpy>=' + astropy.__minimum_numpy_version__",
        ],
    ),
    (
        "strings that are put together",
        """
        NUMPY, MINIMUM = "numpy", "1.2"
        MIN = "1." + "3"
        setup(install_requires=["a>=%s" % MIN, "b>={}".format(MIN), "c>={0},<{m}".format(MIN, m="2"), f"d=={MIN}.*"])
        """,
        {},
        ["a>=1.3", "b>=1.3", "c<2,>=1.3", "d==1.3.*"],
    ),
    (
        "what nobody can tell without running it",
        """
        setup(install_requires=[k + v for k, v in ASKED.items()] + ["six"], python_requires=minimum())
        """,
        {},
        [
            "! setup.py:2: install_requires is computed, and nothing is run: [k + v for k, v in ASKED.items()]",
            "! setup.py:2: python_requires is computed, and nothing is run: minimum()",
            "six",
        ],
    ),
    (
        "a script that would do harm",
        """
        import os
        os.remove("setup.py")
        raise SystemExit(1)
        setup(install_requires=["six"])
        """,
        {},
        ["six"],
    ),
    ("no Python", "setup(install_requires=[\n", {}, ["! setup.py:1: not Python: '[' was never closed"]),
]


@pytest.mark.parametrize(
    ("script", "files", "expected"), [item[1:] for item in SCRIPTS], ids=[item[0] for item in SCRIPTS]
)
def test_a_script(script: str, files: dict[str, str], expected: list[str]) -> None:
    texts = {"setup.py": dedent(script), **files}
    pins = read_pins({path: text.encode() for path, text in texts.items()})
    result = {
        statement.words.split(": ", 1)[1] + (f" [{statement.group}]" if statement.group else "")
        for statement in pins.statements
    } | {f"! {reject.key}: {reject.detail}" for reject in pins.rejects}
    assert sorted(result) == expected
