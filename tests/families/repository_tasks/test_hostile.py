"""Projects that mean harm, really run: they break neither the stage nor what runs next, and what they forge is not believed.

Not promised, as for samples: that code which knows this harness cannot report in its stead.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from typing import Any

import pytest

from pipeline.core.vocabularies.projects import ProjectOutcome, TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.environment import Environment
from pipeline.families.repository_tasks.project import Project, Variant
from pipeline.families.repository_tasks.project_context import ProjectContext
from pipeline.families.repository_tasks.report import BadReport, read_report
from pipeline.families.repository_tasks.running import run_variants
from pipeline.lake.schema import table
from tests.errors import raises
from tests.families.repository_tasks.conftest import FILES, trace, tree, with_files
from tests.families.repository_tasks.test_running import OF_PRICES, PRICES, TAX

CONFTEST = "tests/conftest.py"
FINDING = """
def pytest_sessionfinish(session):
    seen = next(each for each in session.config.pluginmanager.get_plugins() if hasattr(each, "chosen"))
    tracer = seen.tracer
"""
REPORTS = {
    "file that is not there": "    for test in tracer.lines: tracer.lines[test] = {99: {1, 2}}\n",
    "file before the first": "    for test in tracer.lines: tracer.lines[test] = {-1: {1, 2}}\n",
    "lines that are none": "    for test in tracer.lines: tracer.lines[test] = {0: {12.5, 1 << 70}}\n",
    "calls from nowhere": "    for test in tracer.calls: tracer.calls[test] = {((99, 1), (99, 1))}\n",
    "huge count": "    seen.collected = 10 ** 30\n",
    "text for a count": "    seen.collected = 'many'\n",
    "unknown outcome": "    seen.outcomes = dict.fromkeys(seen.chosen, 'won')\n",
    "deep": "    deep = []\n    for _ in range(900): deep = [deep]\n    seen.messages = {'a': deep}\n",
    "bomb": "    seen.messages = {'a': 'x' * ((1 << 27) + 1)}\n",
    "no tracer": "    seen.tracer = 1\n",
}


def hostile(project: Project, code: str, **rules: Any) -> Project:
    files = FILES | {CONFTEST: FILES[CONFTEST] + code}
    return replace(project, tree=tree(project.rules, files), rules=project.rules.model_copy(update=rules))


@pytest.mark.parametrize("code", REPORTS.values(), ids=REPORTS)
def test_a_report_that_no_run_gives_is_a_project_without_tests(project_context: ProjectContext, code: str) -> None:
    output = trace(with_files(project_context, {CONFTEST: FILES[CONFTEST] + FINDING + code}))
    [project] = output.tables["projects"]
    table("projects").check(project)
    assert project["outcome"] == ProjectOutcome.NOT_COLLECTED
    assert "harness_error" in str(project["detail"])
    assert not output.tables["traced_functions"]


def test_tests_that_nobody_asked_for_are_not_believed(shop: Project) -> None:
    names = [f"nowhere/test_x.py::test_{n}" for n in range(400)] + [f"{OF_PRICES}::fake_{n}" for n in range(400)]
    code = FINDING + f"    seen.chosen += {names!r}\n    seen.outcomes.update(dict.fromkeys(seen.chosen, 'passed'))\n"
    whole, one = run_variants(hostile(shop, code), [Variant("all"), Variant("one", [TAX])])
    assert {test.split("::")[0] for test in whole.outcomes} == {OF_PRICES}
    assert len(whole.outcomes) == shop.rules.tests
    assert one.outcomes == {TAX: TestOutcome.PASSED}


def test_half_a_character_does_not_spoil_the_report(shop: Project) -> None:
    files = FILES | {OF_PRICES: FILES[OF_PRICES] + "\ndef test_half(): assert False, '\\ud800'\n"}
    [run] = run_variants(replace(shop, tree=tree(shop.rules, files)), [Variant("all")])
    assert run.outcomes[f"{OF_PRICES}::test_half"] is TestOutcome.FAILED
    assert run.outcomes[TAX] is TestOutcome.PASSED


PYTEST = {
    "the call": "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n",
    "the report": "import _pytest.reports\nmade = _pytest.reports.TestReport.from_item_and_call.__func__\n"
    "def kind(cls, item, call):\n    call.excinfo = None\n    return made(cls, item, call)\n"
    "_pytest.reports.TestReport.from_item_and_call = classmethod(kind)\n",
    "the outcome": "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
    "    (yield).get_result().outcome = 'passed'\n",
}


@pytest.mark.parametrize("code", PYTEST.values(), ids=PYTEST)
def test_a_patched_pytest_passes_nothing_that_fails(shop: Project, code: str) -> None:
    fails = f"{OF_PRICES}::test_fails"
    [run] = run_variants(hostile(shop, code), [Variant("one", [fails])])
    assert run.outcomes[fails] is not TestOutcome.PASSED


def test_code_under_test_that_patches_pytest_does_not_pass(shop: Project) -> None:
    code = FILES[PRICES].replace("* SCALE)", "* 0)") + PYTEST["the call"]
    [run] = run_variants(shop, [Variant("one", [TAX], {PRICES: code})])
    assert run.worst is not TestOutcome.PASSED


WRITES = """
import glob, os, sys
for folder in ['/', '/etc', '/usr/lib', '/work', '/root', os.path.expanduser('~'), '..', '../..', *sys.path]:
    try: open(os.path.join(folder, 'evil.py'), 'w').write('raise SystemExit')
    except OSError: pass
for name in glob.glob('../*.tar') + glob.glob(os.path.join(os.path.dirname(os.__file__), '*.py'))[:9]:
    for spoil in (lambda: open(name, 'ab').write(b'x'), lambda: os.remove(name), lambda: os.chmod(name, 0)):
        try: spoil()
        except OSError: pass
"""
HARM = {
    "writes elsewhere": (WRITES, Outcome.PASSED),
    "bomb of processes": (
        "import os\nfor _ in range(5000):\n    try: os.fork()\n    except OSError: break\n",
        None,
    ),
    "flood": ("import os\nfor fd in os.listdir('/proc/self/fd'):\n    try: os.write(int(fd), b'x' * (8 << 20))\n"
              "    except OSError: pass\n", None),
    "leaves in a hook": ("import os\ndef pytest_sessionfinish(): os._exit(0)\n", Outcome.WRONG_EXCEPTION),
    "kills": ("import os\nos.kill(os.getppid(), 9)\nos.kill(-1, 9)\n", None),
}  # fmt: skip


@pytest.mark.parametrize(("code", "outcome"), HARM.values(), ids=HARM)
def test_harm_stays_in_its_sandbox(shop: Project, environment: Environment, code: str, outcome: Outcome | None) -> None:
    before = sorted(environment.site_packages.parent.rglob("*.py"))
    bad = hostile(shop, "", time_s=4.0)
    changed = {PRICES: FILES[PRICES] + code} if "def pytest" not in code else {CONFTEST: FILES[CONFTEST] + code}
    harmed, good = run_variants(bad, [Variant("bad", [TAX], changed), Variant("good", [TAX])])
    assert outcome in (None, harmed.outcome)
    assert good.outcomes == {TAX: TestOutcome.PASSED}
    assert sorted(environment.site_packages.parent.rglob("*.py")) == before


ATTEMPTS = {
    "overwrites a test": "open('tests/test_prices.py', 'w')",
    "goes on after a test": "open('tests/test_prices.py', 'a')",
    "opens a test to change it": "os.open('tests/test_prices.py', os.O_RDWR)",
    "cuts a test off": "os.truncate('tests/test_prices.py', 0)",
    "removes a test": "os.remove('tests/test_prices.py')",
    "renames a test": "os.rename('tests/test_prices.py', '/tmp/away.py')",
    "replaces a test": "os.replace(own, 'tests/test_prices.py')",
    "opens a test to all": "os.chmod('tests/test_prices.py', 0o666)",
    "dates a test": "os.utime('tests/test_prices.py', (1, 1))",
    "takes a test": "os.chown('tests/test_prices.py', os.getuid(), -1)",
    "overwrites the conftest": "open('tests/conftest.py', 'w')",
    "removes the conftest": "os.remove('tests/conftest.py')",
    "replaces the conftest": "os.replace(own, 'tests/conftest.py')",
    "links to the conftest": "os.symlink(own, 'tests/conftest.py')",
    "overwrites the settings": "open('setup.cfg', 'w')",
    "removes the settings": "os.remove('setup.cfg')",
    "renames the folder of tests": "os.rename('tests', '/tmp/tests')",
    "renames the folder of tests beside it": "os.rename('tests', 'tests_away')",
    "removes the folder of tests": "shutil.rmtree('tests')",
    "replaces the folder of tests": "os.rename(folder, 'tests')",
    "opens the folder of tests to all": "os.chmod('tests', 0o777)",
    "renames the tree": "os.rename('../project', '../away')",
    "replaces the tree": "os.rename(folder, '../project')",
    "removes the tree": "shutil.rmtree('../project')",
    "opens the tree to all": "os.chmod('.', 0o777)",
    "adds a conftest to the tree": "open('conftest.py', 'w')",
    "adds a conftest to sources": "open('src/shop/conftest.py', 'w')",
    "adds a conftest as a link": "os.symlink(own, 'conftest.py')",
    "adds a conftest as a hard link": "os.link(own, 'conftest.py')",
    "adds settings": "open('pytest.ini', 'w')",
    "adds hidden settings": "open('.pytest.ini', 'w')",
    "adds settings to the tests": "open('tests/pytest.ini', 'w')",
    "adds a project file": "open('pyproject.toml', 'w')",
    "adds settings of tox": "open('tox.ini', 'w')",
    "adds a site": "open('src/sitecustomize.py', 'w')",
    "adds a site of a user": "open('src/usercustomize.py', 'w')",
    "adds a site beside tests": "open('tests/sitecustomize.py', 'w')",
    "adds a plugin": "open('tests/plugin.py', 'w')",
    "makes a package of the tests": "open('tests/__init__.py', 'w')",
    "adds a test": "open('tests/test_more.py', 'w')",
    "adds bytecode of a test": "os.mkdir('tests/__pycache__')",
    "adds a package before a module": "os.mkdir('src/shop/money')",
    "adds a module before the library": "open('src/decimal.py', 'w')",
    "adds a folder of metadata": "os.mkdir('src/evil-1.0.dist-info')",
    "overwrites another source": "open('src/shop/money.py', 'w')",
    "overwrites itself": "open('src/shop/prices.py', 'w')",
    "overwrites the archive": "open('../driftline-project.tar', 'w')",
    "removes the archive": "os.remove('../driftline-project.tar')",
    "replaces the archive": "os.replace(own, '../driftline-project.tar')",
}
"""What an answer could try on the files of its project, `own` being a file of its own and `folder` a folder."""

TRIES = f"""
import os, shutil, pytest
ATTEMPTS = {ATTEMPTS!r}
@pytest.mark.parametrize("name", ATTEMPTS)
def test_refused(name, tmp_path):
    own, folder = tmp_path / "own.py", tmp_path / "folder"
    own.write_text("x = 1")
    folder.mkdir()
    with pytest.raises(OSError):
        exec(ATTEMPTS[name])
def test_own_files(tmp_path):
    shutil.copytree("tests", tmp_path / "tests")
    (tmp_path / "tests" / "conftest.py").write_text("")
    shutil.rmtree(tmp_path / "tests")
def test_leaves_files_behind():
    os.makedirs("/tmp/left/deep")
    open("/tmp/left/deep/file", "w").close()
"""


def test_no_file_of_a_project_can_be_changed_by_its_code(shop: Project) -> None:
    files = FILES | {"tests/test_tries.py": TRIES}
    project = replace(shop, tree=tree(shop.rules, files))
    names = [f"tests/test_tries.py::test_refused[{name}]" for name in ATTEMPTS]
    names += ["tests/test_tries.py::test_own_files", "tests/test_tries.py::test_leaves_files_behind"]
    first, second = run_variants(project, [Variant("first", names), Variant("second", names)])
    assert {test for test, outcome in first.outcomes.items() if outcome is not TestOutcome.PASSED} == set()
    assert second.outcomes == first.outcomes, "the files of the run before are gone"


LEAVING = {
    "with the status of the harness": "import os\nos._exit(97)\n",
    "with no memory": "import os\nos.write(1, b'MemoryError')\nos._exit(1)\n",
    "by a signal": "import os\nos.kill(os.getpid(), 9)\n",
    "with all that it can kill": "import os\nfor n in range(1, 99):\n    try: os.kill(n, 9)\n    except OSError: pass\n",
    "by an exception of a borrowed name": "class HarnessError(BaseException): pass\nraise HarnessError\n",
}


@pytest.mark.parametrize("code", LEAVING.values(), ids=LEAVING)
def test_no_code_takes_itself_out_of_the_figure(shop: Project, code: str) -> None:
    [run] = run_variants(shop, [Variant("bad", [TAX], {PRICES: FILES[PRICES] + code})])
    assert run.outcome not in (Outcome.HARNESS_ERROR, Outcome.NO_ENVIRONMENT)
    assert run.worst is not TestOutcome.PASSED


@pytest.mark.parametrize(
    "message",
    ["", "not base 85 \x00", "{}", base64.b85encode(b"{}").decode(), base64.b85encode(zlib.compress(b"[]")).decode()],
)
def test_what_is_no_report_is_refused(message: str) -> None:
    with pytest.raises(BadReport):
        read_report(message, [], 0, 1)


def test_a_report_that_is_cut_off_is_refused() -> None:
    whole = zlib.compress(json.dumps({"collected": 1}).encode())
    assert read_report(base64.b85encode(whole).decode(), [], 0, 1).collected == 1
    with raises(BadReport, "cut off"):
        read_report(base64.b85encode(whole[:-4]).decode(), [], 0, 1)
