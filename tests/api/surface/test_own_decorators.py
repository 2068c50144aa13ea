"""What others do deprecates an API: decorators and classes that warn, own categories, own functions that warn."""

from collections.abc import Mapping

import pytest

from pipeline.api.surface.parse_cache import Records
from pipeline.api.surface.reader import SurfaceReader
from tests.api.surface.trees import READING_RULES, rows, tree

WARNS = "        warnings.warn({message}, DeprecationWarning)\n        return func(*args)\n"
OLD = "import warnings\ndef fading(func):\n    def inner(*args):\n" + WARNS + "    return inner\n"
USED = "@fading\ndef f(x): ...\nclass C:\n    @fading\n    def m(self): ...\n    @property\n    @fading\n    def p(self): ...\n"


def marks(files: Mapping[str, str] | str) -> dict[str, str | None]:
    return {path: row["deprecation"]["message"] for path, row in rows(files).items() if row["deprecation"]}


def test_what_it_decorates_has_the_mark():
    found = rows(OLD.format(message="'use g instead'") + USED)
    assert marks(OLD.format(message="'use g instead'") + USED) == dict.fromkeys(
        ("pkg.f", "pkg.C.m", "pkg.C.p"), "use g instead"
    )
    assert found["pkg.f"]["deprecation"] == {
        "channel": "decorator",
        "since": None,
        "removal": None,
        "message": "use g instead",
        "replacement": "g",
    }


def test_it_may_stand_in_another_module_and_be_called_first():
    factory = (
        "import warnings\ndef fading(since):\n    def decorate(func):\n        def inner(*args):\n"
        "            warnings.warn('it goes', FutureWarning if since else DeprecationWarning)\n"
        "            return func(*args)\n        return inner\n    return decorate\n"
    ).replace("FutureWarning if since else DeprecationWarning", "DeprecationWarning")
    source = "from ._util import fading\n@fading('2.0')\ndef f(x): ...\n"
    assert marks({"pkg/__init__.py": source, "pkg/_util.py": factory}) == {"pkg.f": "it goes"}


def test_a_message_with_pieces_of_what_is_decorated_is_left_out():
    assert marks(OLD.format(message="f'{func.__name__} goes'") + USED)["pkg.f"] is None


@pytest.mark.parametrize(
    "body",
    [
        "    def inner(*args):\n        if len(args) > 1:\n            warnings.warn('order', DeprecationWarning)\n"
        "        return func(*args)\n    return inner\n",
        "    def inner(*args):\n        warnings.warn('slow', RuntimeWarning)\n        return func(*args)\n    return inner\n",
        "    def unused():\n        warnings.warn('x', DeprecationWarning)\n    return func\n",
    ],
    ids=["of one way of calling", "of something else", "in what is not returned"],
)
def test_other_warnings_mark_nothing(body):
    assert marks(f"import warnings\ndef fading(func):\n{body}{USED}") == {}


def test_a_decorator_that_begins_to_warn_marks_what_another_file_decorates():
    used = "from ._util import fading\nclass C:\n    @fading\n    def m(self): ...\n"
    releases = [
        tree({"pkg/__init__.py": used, "pkg/_util.py": util})
        for util in ("def fading(func): return func\n", OLD.format(message="'it goes'"))
    ]
    contents = {sha: content for _, files in releases for sha, content in files.items()}
    reader = SurfaceReader(Records(None, READING_RULES, lambda wanted: {sha: contents[sha] for sha in wanted}))
    before, after = (reader.read(sources).symbols["pkg.C.m"]["deprecation"] for sources, _ in releases)
    assert (before, after and after["message"]) == (None, "it goes")


GOES = "warnings.warn('it goes', DeprecationWarning)"
CALLED = f"import warnings\nclass fading:\n    def __init__(self, func): ...\n    def __call__(self, *args):\n        {GOES}\n"
FIRST = (
    "import warnings\nclass fading:\n    def __init__(self, since): ...\n    def __call__(self, func):\n"
    f"        def inner(*args):\n            {GOES}\n            return func(*args)\n        return inner\n"
)
READ = f"import warnings\nclass Fading:\n    def __get__(self, instance, owner):\n        {GOES}\n"
WRAPPER = OLD.format(message="'it goes'")


@pytest.mark.parametrize(
    ("source", "marked"),
    [
        (f"{CALLED}@fading\ndef f(x): ...\n", {"pkg.f"}),
        (f"{FIRST}@fading('2.0')\ndef f(x): ...\n", {"pkg.f"}),
        (f"{READ}class C:\n    A = Fading()\n    B = 1\n", {"pkg.C.A"}),
        (f"{WRAPPER}def _f(x): ...\nf = fading(_f)\ng = _f\n", {"pkg.f"}),
        ("class fading:\n    def __call__(self, func): return func\n@fading\ndef f(x): ...\n", set()),
        (f"{CALLED.replace('Deprecation', 'Runtime')}@fading\ndef f(x): ...\n", set()),
    ],
    ids=["called", "called first", "read", "assigned", "that does not warn", "that warns of something else"],
)
def test_a_class_that_warns_where_it_stands_before_something_marks_that(source, marked):
    assert set(marks(source)) == marked


def test_of_two_methods_that_warn_the_call_has_the_message():
    source = CALLED + READ.partition("Fading:\n")[2].replace("it goes", "it is read") + "@fading\ndef f(x): ...\n"
    assert marks(source)["pkg.f"] == "it goes"


CATEGORY = "import warnings\nclass Faded(DeprecationWarning): ...\nclass Later(FutureWarning): ...\nclass Slow(UserWarning): ...\n"


@pytest.mark.parametrize(
    ("body", "marked"),
    [
        ("warnings.warn('it goes', Faded)", True),
        ("warnings.warn(Faded('it goes'))", True),
        ("warnings.warn('it will be removed in 3.0', category=Later)", True),
        ("warnings.warn('it gives another order', Later)", False),
        ("warnings.warn('it takes long', Slow)", False),
        ("if x: warnings.warn('of one way', Faded)", False),
    ],
)
def test_a_category_of_the_library_is_what_its_bases_are(body, marked):
    source = f"from ._w import Faded, Later, Slow\nimport warnings\ndef f(x):\n    {body}\n    return x\n"
    assert ("pkg.f" in marks({"pkg/__init__.py": source, "pkg/_w.py": CATEGORY})) is marked


@pytest.mark.parametrize(
    ("body", "marked"),
    [
        ("warnings.warn(f'{name} goes', DeprecationWarning)", True),
        ("warnings.warn(f'{name} goes', Faded)", True),
        ("warnings.warn(f'{name} is slow', RuntimeWarning)", False),
        ("if name == 'g': warnings.warn('g goes', DeprecationWarning)", False),
    ],
)
def test_a_function_of_the_library_that_always_warns_marks_what_always_calls_it(body, marked):
    helper = f"{CATEGORY}def warn_old(name):\n    {body}\n"
    source = (
        "from ._w import warn_old\ndef f(x):\n    warn_old('f')\n    return x\ndef g(x):\n    if x: warn_old('g')\n"
    )
    found = marks({"pkg/__init__.py": source, "pkg/_w.py": helper})
    assert ("pkg.f" in found, "pkg.g" in found) == (marked, False)


def test_a_dataclass_that_warns_once_its_fields_are_set_is_deprecated():
    source = f"import warnings\nfrom dataclasses import dataclass\n@dataclass\nclass C:\n    a: int\n    def __post_init__(self):\n        {GOES}\n"
    assert set(marks(source)) == {"pkg.C"}


COPY = "from ._axes import Axes\ndef _copy_docstring_and_deprecators(method, func=None): ...\n"


@pytest.mark.parametrize(
    ("source", "marked"),
    [
        (f"{COPY}@_copy_docstring_and_deprecators(Axes.old)\ndef old(x): ...\n", {"pkg.old"}),
        (f"{COPY}@_copy_docstring_and_deprecators(Axes.new)\ndef new(x): ...\n", set()),
        (f"{COPY}@_copy_docstring_and_deprecators(old)\ndef old(x): ...\n", set()),
        (f"{COPY}class C:\n    @_copy_docstring_and_deprecators(Axes.old)\n    def old(x): ...\n", {"pkg.C.old"}),
    ],
    ids=["matplotlib.pyplot.plot_date", "of a function without a mark", "of itself", "of a method"],
)
def test_a_decorator_copies_the_marks_of_another_function(source, marked):
    axes = f"import warnings\nclass Axes:\n    def old(self, x):\n        {GOES}\n    def new(self, x): ...\n"
    assert set(marks({"pkg/__init__.py": source, "pkg/_axes.py": axes})) - {"pkg.Axes.old"} == marked
