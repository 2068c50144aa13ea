"""Old library, new library, a task of one of them: what the codemods write for the other, and that it runs there."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pipeline.families.problems.apis.other_release import OtherRelease
from pipeline.families.problems.library import Library
from pipeline.families.problems.program import write
from pipeline.families.problems.tasks import Task, tasks_of
from tests.families.completions_and_migrations.codemods.library import USAGE, Files, module, run, stages
from tests.families.completions_and_migrations.rows import TAGGING
from tests.families.problems.examples import RULES_OF_PROBLEMS, example


@dataclass(frozen=True)
class Case:
    """The library in the release of a task and in the other one, and the task in both; None where nothing is written."""

    here: Files
    there: Files
    lines: str
    expected: str | None
    upwards: bool = True

    @property
    def versions(self) -> tuple[str, str]:
        """The release of the task, and the other one."""
        return ("2", "3") if self.upwards else ("3", "2")

    @property
    def library(self) -> Library:
        """What the stages know of the library."""
        return library_of(*((self.here, self.there) if self.upwards else (self.there, self.here)))


FETCH = '''def fetch(name, size=1):
    """Fetch a page, slowly and surely."""
    page = [name] * size
    page.reverse()
    return page
'''
PAGE = """class {name}:
    @classmethod
    def {method}(cls, text):
        \"\"\"Say whether a text is a page, by its first letter and by its last.\"\"\"
        first = text[:1]
        last = text[-1:]
        return [first == "<" and last == ">"]
"""
LOAD = FETCH.replace("fetch(", "load(")
HOW, WAY = (f"def fetch(name, {word}): return [name, {word}]\n" for word in ("how", "way"))
DEPRECATED = f'''import warnings
def fetch_all(name):
    """Fetch pages.

    .. deprecated:: 2
        Use :func:`fetch` instead.
    """
    warnings.warn("Use fetch instead.", DeprecationWarning, stacklevel=2)
    return [name]
{FETCH}'''

VALID, IS_VALID = (module(PAGE.format(name="Page", method=name)) for name in ("isvalid", "is_valid"))
INFO = module(PAGE.format(name="Info", method="isvalid"))
ALIAS = module(PAGE.format(name="Page", method="is_valid") + "Info = Page\n")
BESIDE = "def same(name): return [name]\n"

CASES = {
    "renamed": Case(module(FETCH), module(LOAD), "import lib; lib.fetch('a', 2)", "import lib; lib.load('a', 2)"),
    "renamed, downwards": Case(
        module(LOAD), module(FETCH), "import lib; lib.load('a', 2)", "import lib; lib.fetch('a', 2)", upwards=False
    ),
    "renamed, by its own import": Case(
        module(FETCH), module(LOAD), "from lib import fetch; fetch('a', 2)", "from lib import load; load('a', 2)"
    ),
    "another name of a parameter": Case(
        module(HOW), module(WAY), "import lib; lib.fetch('a', how=2)", "import lib; lib.fetch('a', way=2)"
    ),
    "another name of a parameter, downwards": Case(
        module(WAY),
        module(HOW),
        "import lib; lib.fetch('a', way=2)",
        "import lib; lib.fetch('a', how=2)",
        upwards=False,
    ),
    "another name of a parameter, given by its place": Case(
        module(HOW), module(WAY), "import lib; lib.fetch('a', 2)", None
    ),
    "a method": Case(
        VALID, IS_VALID, "from lib import Page; Page.isvalid('<a>')", "from lib import Page; Page.is_valid('<a>')"
    ),
    "a method of a class that keeps its old name": Case(
        INFO, ALIAS, "from lib import Info; Info.isvalid('<a>')", "from lib import Info; Info.is_valid('<a>')"
    ),
    "a method of a class that has another name, downwards": Case(
        ALIAS, INFO, "from lib import Page; Page.is_valid('<a>')", "import lib; lib.Info.isvalid('<a>')", upwards=False
    ),
    "what changed is not used": Case(module(FETCH + BESIDE), module(LOAD + BESIDE), "import lib; lib.same('a')", None),
    "nothing changed": Case(module(FETCH), module(FETCH), "import lib; lib.fetch('a')", None),
}


def library_of(old: Files, new: Files) -> Library:
    tables, _ = stages(old, new)
    releases, symbols, changes, lives = (tables[name] for name in ("releases", "symbols", "changes", "lifecycles"))
    return Library(releases, symbols, changes, lives, [], [], [], TAGGING, USAGE)


def task_of(lines: str, version: str) -> Task:
    imports, call = lines.split("; ")
    (task,) = tasks_of(example(f">>> {imports}\n>>> {call}\n[1]\n", first=version), {"lib"}).tasks
    return task


def result(files: Files, task: Task) -> object:
    """What a task gives for the arguments of its case."""
    written = write(task, (), RULES_OF_PROBLEMS)
    return run(files, f"{written.program}x = {written.function}({', '.join(task.cases[0].arguments)})\n")["x"]


@pytest.mark.parametrize("name", CASES)
def test_a_task_follows_what_changed(name: str) -> None:
    case = CASES[name]
    version, other = case.versions
    task = task_of(case.lines, version)
    followed = OtherRelease(case.library).follow(task, version, other)
    assert (followed is None) is (case.expected is None)
    if followed is None or case.expected is None:
        return
    expected = task_of(case.expected, other)
    assert (followed.task.imports, followed.task.returned) == (expected.imports, expected.returned)
    assert not followed.is_replacement
    assert (followed.task.cases, followed.task.variables) == (task.cases, task.variables)
    assert result(case.there, followed.task) == result(case.here, task)
    with pytest.raises((AttributeError, ImportError, TypeError)):
        result(case.here, followed.task)


def test_a_replacement_that_is_only_stated_is_marked() -> None:
    new = module(FETCH)
    task = task_of("import lib; lib.fetch_all('a')", "2")
    followed = OtherRelease(library_of(module(DEPRECATED), new)).follow(task, "2", "3")
    assert followed is not None
    assert (followed.task.returned, followed.is_replacement) == ("lib.fetch(parameter_0)", True)
    assert result(new, followed.task) == ["a"]


def test_what_the_function_needs_stays_beside_it() -> None:
    """Helpers stay what they are, and so do definitions that use the library."""
    docstring = (
        ">>> import math\n>>> from lib import Page\n>>> class Mine(Page):\n...     size = math.pi\n"
        ">>> text = '<a>'\n>>> Mine.isvalid(text)\n[True]\n"
    )
    (task,) = tasks_of(example(docstring, first="2"), {"lib"}).tasks
    followed = OtherRelease(library_of(VALID, IS_VALID)).follow(task, "2", "3")
    assert followed is not None
    assert (followed.task.own, followed.task.definitions) == (task.own, task.definitions)
    assert followed.task.returned == "Mine.is_valid(parameter_0)"
    assert result(IS_VALID, followed.task) == [True]
