"""Which names an answer to a migration has to use, by worked examples."""

from __future__ import annotations

import pytest

from pipeline.families.completions_and_migrations.required_names import new_part, required_names

RENAMED = ("import lib\nlib.load(func=1)\n", "import lib\nlib.load(function=1)\n", "lib.load")
OTHER_CLASS = ("import lib\nlib.Old(1).show()\n", "import lib\nlib.New(1).show()\n", "lib.New.show")
OTHER_NAME = ("from lib import Old\nOld.isvalid(1)\n", "from lib import New\nNew.is_valid(1)\n", "lib.New.is_valid")
SHORTER = ("import lib\nstr(lib.Old.parse('1').last())\n", "import lib\nlib.last('1')\n", "lib.last")
DROPPED = ("import lib\nlib.load(1, quote=True)\n", "import lib\nlib.load(1)\n", "lib.load")
REQUIRED = {
    "a parameter that another name replaces": (RENAMED, {"lib", "load"}, {"function"}),
    "the class, where the method has the same name": (OTHER_CLASS, {"lib", "New", "show"}, set()),
    "the name alone, where it is new: the class may have a second name": (OTHER_NAME, {"lib", "is_valid"}, set()),
    "what both have, where nothing is new": (SHORTER, {"lib", "last"}, set()),
    "no parameter, where one is gone": (DROPPED, {"lib", "load"}, set()),
    "no parameter, where one is now given by name": (("f(1, 2)", "import lib\nlib.f(1, x=2)", "lib.f"), {"lib", "f"}, set()),
    "no name that the target code does not use": (("", "x = 1 + 2", "lib.A.__add__"), set(), set()),
    "the library, where the API is its module": (("", "import lib", "lib"), {"lib"}, set()),
    "nothing of what does not parse": (("f(", "f()", "lib.f"), set(), set()),
}  # fmt: skip


@pytest.mark.parametrize("case", REQUIRED)
def test_names_that_the_release_decides_are_required(case: str) -> None:
    programs, apis, parameters = REQUIRED[case]
    required = required_names(*programs)
    assert (set(required.apis), set(required.parameters)) == (apis, parameters)
    assert required.missing_from(programs[1]) == ()


ANSWERS = {
    "the reference": (RENAMED, "import lib\nlib.load(function=1)\n", ()),
    "another spelling": (RENAMED, "from lib import load as get\nget(**{'function': 1})\n", ()),
    "a star import": (RENAMED, "from lib import *\nload(function=1)\n", ()),
    "the old name": (RENAMED, "import lib\nlib.load(func=1)\n", ("function",)),
    "the argument by position": (RENAMED, "import lib\nlib.load(1)\n", ("function",)),
    "the name as a variable": (RENAMED, "import lib\nfunction = 1\nlib.load(function)\n", ("function",)),
    "a literal": (SHORTER, "'1'\n", ("last", "lib")),
    "a function of one's own": (SHORTER, "import lib\ndef last(x):\n    return x\nlast('1')\n", ("last", "lib")),
    "another library": (SHORTER, "from html import last\nlast('1')\n", ("lib",)),
    "an older call of both releases": (OTHER_CLASS, "import lib\nlib.show(1)\n", ("New",)),
    "a name in a comment": (OTHER_CLASS, "import lib\nlib.show(1)  # New\n", ("New",)),
    "code for another Python": (RENAMED, "import lib\nprint lib.load(function=1)\n", ()),
    "such code without the name": (RENAMED, "import lib\nprint lib.load(1)\n", ("function",)),
    "an import that nothing reads": (SHORTER, "from lib import last\n'1'\n", ("last", "lib")),
    "the same by another name": (SHORTER, "from lib import last as end\nend = 1\n", ("last", "lib")),
    "an import that is read by another name": (SHORTER, "from lib import last as end\nend('1')\n", ()),
    "a module by another name": (SHORTER, "import lib as l\nl.last('1')\n", ()),
    "no more than the target code does": (("import old", "import lib", "lib"), "import lib\n", ()),
    "nothing": (RENAMED, "", ("function", "lib", "load")),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_lacks_what_it_evades(case: str) -> None:
    programs, answer, missing = ANSWERS[case]
    assert required_names(*programs).missing_from(answer) == missing


@pytest.mark.parametrize(
    ("source", "target", "path", "part"),
    [
        ("from lib import fetch\nx = fetch(1)\n", "from lib import load\nx = load(1)\n", "lib.load", "load"),
        ("from lib import fetch\nx = fetch(1)\n", "from new import fetch\nx = fetch(1)\n", "new.fetch", "new"),
        ("import lib\nlib.Old().fetch(1)\n", "import lib\nlib.New().fetch(1)\n", "lib.New.fetch", "New"),
        ("import lib\nlib.Old().load(1)\n", "import lib\nlib.New().fetch(1)\n", "lib.New.fetch", "fetch"),
        # a part of another name
        ("import lib\nlib.Newest().fetch(1)\n", "import lib\nlib.New().fetch(1)\n", "lib.New.fetch", "New"),
        ("from lib.a import fetch\nx = fetch(1)\n", "from lib import fetch\nx = fetch(1)\n", "lib.fetch", None),
        ("import lib\nlib.fetch(a=1)\n", "import lib\nlib.fetch(b=1)\n", "lib.fetch", None),
    ],
)
def test_the_part_of_a_path_that_a_copy_of_the_source_lacks(
    source: str, target: str, path: str, part: str | None
) -> None:
    assert new_part(source, target, path) == part
