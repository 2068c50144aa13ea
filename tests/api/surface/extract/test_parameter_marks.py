"""Parameters that are deprecated by a docstring, a default or a warning, as libraries write these."""

import pytest

from pipeline.api.surface.extract.signature_decorators import show_parameter
from tests.api.surface.trees import rows

HEAD = "import warnings\nfrom pandas._libs import lib\n"


def marks(source: str, path: str = "pkg.f") -> list[str]:
    return [show_parameter(p) for p in rows(HEAD + source)[path]["parameters"] if p["deprecation"]]


NUMPY = """
def f(a, squeeze=False, **kwargs):
    '''Do.

    .. versionadded:: 0.1

    Parameters
    ----------
    a : int
        Text.
    squeeze : bool, default False
        Text.

        .. deprecated:: 1.1.0
           Use `reduce` instead. It will be removed in version 2.0.
    '''
"""
GOOGLE = """
def f(a, squeeze=False):
    '''Do.

    Args:
        a: Text.
        squeeze (bool): Text.

            .. deprecated:: 1.1.0
                Use :func:`reduce` instead; it will be removed in 2.0.
    '''
"""
SPHINX = """
def f(a, squeeze=False):
    '''Do.

    :param a: Text.
    :param squeeze: Text.

        .. deprecated-removed:: 1.1.0 2.0
            Use `reduce` instead.
    '''
"""
CLASS = """
class f:
    '''Do.

    Parameters
    ----------
    squeeze : bool
        .. deprecated:: 1.1.0
            It will be removed in 2.0. Use `reduce` instead.
    '''
    def __METHOD__(self, squeeze=False): ...
"""


@pytest.mark.parametrize(
    "source",
    [NUMPY, GOOGLE, SPHINX, *(CLASS.replace("METHOD", name) for name in ("init", "new"))],
    ids=["numpydoc", "Google", "Sphinx", "class, __init__", "class, __new__"],
)
def test_a_directive_under_a_parameter(source):
    expected = "positional_or_keyword, entirely, since 1.1.0, removed in 2.0, use reduce"
    assert marks(source) == [f"squeeze: {expected}"]


@pytest.mark.parametrize("text", ["*squeeze* is deprecated in favor of *reduce*.", "*squeeze*"])
def test_a_directive_of_the_whole_that_names_a_parameter(text):
    # attrs 24.1: define
    source = f"def f(a, squeeze=False):\n    '''Do.\n\n    .. deprecated:: 1.1 {text}\n    '''\n"
    use = ", use reduce" if "reduce" in text else ""
    assert marks(source) == [f"squeeze: positional_or_keyword, entirely, since 1.1{use}"]
    assert rows(source)["pkg.f"]["deprecation"] is None


def test_a_directive_of_the_whole_that_names_a_parameter_and_what_replaces_it():
    # Flask 2.1: send_file
    source = "def f(a, squeeze=None, reduce=None):\n    '''Do.\n\n    .. versionchanged:: 2.0\n        TEXT\n    '''\n"
    replaced = source.replace("TEXT", "``reduce`` replaces the ``squeeze`` parameter. It may be a string.")
    assert marks(replaced) == ["squeeze: positional_or_keyword, entirely, since 2.0, use reduce"]
    assert rows(replaced)["pkg.f"]["deprecation"] is None
    others = "``reduce`` replaces the ``squeeze`` function.", "``NaN`` replaces the ``squeeze`` parameter."
    assert [marks(source.replace("TEXT", text)) for text in others] == [[], []]


def test_a_directive_about_one_value_or_of_the_whole_marks_no_parameter():
    about_value = NUMPY.replace("Use `reduce` instead. It will", "Passing a string is deprecated and will")
    whole = "def f(squeeze=1):\n    '''Do.\n\n    .. deprecated:: 1.1\n    '''\n"
    gone = NUMPY.replace("squeeze=False, **kwargs", "other=False")
    assert [marks(source) for source in (about_value, whole, gone)] == [[], [], []]


@pytest.mark.parametrize(
    ("default", "marked"),
    [
        ("'deprecated'", True),
        ('"deprecated"', True),
        ("DEPRECATED", True),
        ("_shared.DEPRECATED", True),
        ("'warn'", False),
        ("None", False),
        ("lib.no_default", False),
        ("is_deprecated", False),
    ],
)
def test_a_default_that_says_so(default, marked):
    found = marks(f"def f(a, b={default}): ...\n")
    assert found == (["b: positional_or_keyword, entirely"] if marked else [])


def warns(default: str, test: str, message: str = "b is deprecated", category: str = "FutureWarning") -> str:
    body = f"    if {test}:\n        warnings.warn({message!r}, {category}, stacklevel=2)\n"
    return f"def f(a, b={default}, c=None, *args, **kwargs):\n    a = 1\n{body}    return a\n"


GIVEN = [
    ("None", "b is not None"),
    ("None", "b"),
    ("False", "b"),
    ("True", "not b"),
    ("lib.no_default", "b is not lib.no_default"),
    ("no_default", "b is not lib.no_default"),
    ("'deprecated'", "b != 'deprecated'"),
    ("'deprecated'", "b not in ('deprecated', None)"),
    ("'raise'", "b != 'raise'"),
    ("None", "b is not None and b"),
]


@pytest.mark.parametrize(("default", "test"), GIVEN)
def test_a_warning_whenever_it_is_given(default, test):
    assert marks(warns(default, test)) == ["b: positional_or_keyword, entirely"]


@pytest.mark.parametrize("test", ["b", "not b"])
def test_a_switch_may_turn_on_warnings_of_something_else(test):
    source = warns("True" if "not" in test else "False", test, "Setting an item of another dtype is deprecated")
    assert marks(source) == []


def test_a_directive_about_another_parameter_marks_that_one_only():
    source = "@deprecate_kwarg('random_state', 'squeeze')" + NUMPY.replace("Use `reduce`", "random_state was renamed")
    assert [mark.split(":")[0] for mark in marks(source)] == ["random_state"]


NOT_JUST_GIVEN = [
    ("None", "b is None"),
    ("None", "b is not None and a"),
    ("None", "isinstance(b, str)"),
    ("None", "b == 'old'"),
    ("'raise'", "b != 'ignore'"),
    ("True", "b"),
    ("1", "b"),
    ("None", "args"),
    ("None", "kwargs"),
    ("None", "len(b)"),
]


@pytest.mark.parametrize(("default", "test"), NOT_JUST_GIVEN)
def test_a_warning_about_one_way_of_giving_it_is_none(default, test):
    assert marks(warns(default, test)) == []


@pytest.mark.parametrize(
    ("message", "category", "marked"),
    [
        ("b is ignored", "FutureWarning", False),
        ("b is ignored", "DeprecationWarning", True),
        ("b is deprecated", "RuntimeWarning", False),
        ("b is deprecated", "Pandas4Warning", True),
    ],
)
def test_the_category_decides_as_for_functions(message, category, marked):
    assert bool(marks(warns("None", "b is not None", message, category))) == marked


def test_a_message_tells_since_when_and_what_else():
    told = "b is deprecated since 1.1 and will be removed in 1.3. Use 'c' instead."
    assert marks(warns("None", "b is not None", told)) == [
        "b: positional_or_keyword, entirely, since 1.1, removed in 1.3, use c"
    ]


def test_several_of_which_each_is_deprecated():
    assert marks(warns("None", "b is not None or c is not None")) == [
        "b: positional_or_keyword, entirely",
        "c: positional_or_keyword, entirely",
    ]


@pytest.mark.parametrize(
    "body",
    [
        # pandas 1.5: DataFrame.to_markdown
        "    if 'b' in kwargs:\n        warnings.warn('b is deprecated', FutureWarning)\n        c = kwargs.pop('b')\n",
        "    b = kwargs.pop('b', None)\n    if b is not None:\n        warnings.warn('gone', DeprecationWarning)\n",
    ],
)
def test_one_behind_kwargs(body):
    assert marks(f"def f(a, **kwargs):\n{body}") == ["b: keyword_only, entirely"]


@pytest.mark.parametrize(
    "body",
    [
        "    if b is None:\n        b = 1\n    else:\n        warnings.warn('use x instead', DeprecationWarning)\n",
        "    if a:\n        pass\n    elif b is not None:\n        warnings.warn('use x instead', DeprecationWarning)\n",
        "    with a:\n        if b is not None:\n            warnings.warn('use x instead', DeprecationWarning)\n",
        "    if b is not None:\n        x = b\n        warnings.warn('no more', DeprecationWarning)\n",
    ],
)
def test_other_branches_and_the_parameter_that_takes_its_place(body):
    assert marks(f"def f(a, b=None, x=None):\n{body}") == ["b: positional_or_keyword, entirely, use x"]


def test_what_one_channel_leaves_open_another_says():
    body = "    if squeeze is not lib.no_default:\n        warnings.warn('no more', DeprecationWarning)\n"
    source = NUMPY.replace("squeeze=False", "squeeze=lib.no_default") + body
    assert marks(source) == ["squeeze: positional_or_keyword, entirely, since 1.1.0, removed in 2.0, use reduce"]
