"""What a row says of its API: parameters, annotations, values, marks of deprecation, documentation."""

import inspect
from typing import Any

import pytest

from pipeline.lake.ids import sha256_text
from tests.api.surface.trees import rows, surface


def parameters(row: Any) -> list[tuple[str, str, str | None, str | None, str]]:
    return [(p["name"], str(p["kind"]), p["default"], p["annotation"], str(p["known_from"])) for p in row["parameters"]]


def names(row: Any) -> list[str]:
    return [p["name"] for p in row["parameters"]]


def test_parameters_as_written():
    row = rows("async def f(a, /, b: int = 1, *args, c='x', d: 'list[int]', **kw) -> None: ...\n")["pkg.f"]
    assert parameters(row) == [
        ("a", "positional_only", None, None, "signature"),
        ("b", "positional_or_keyword", "1", "int", "signature"),
        ("args", "var_positional", None, None, "signature"),
        ("c", "keyword_only", "'x'", None, "signature"),
        ("d", "keyword_only", None, "list[int]", "signature"),
        ("kw", "var_keyword", None, None, "signature"),
    ]
    assert (row["returns"], row["labels"]) == ("None", ["async"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def __init__(self, a, b=1): ...", ["a", "b"]),
        ("def __new__(cls, a): ...", ["a"]),
        ("x = 1", []),
    ],
)
def test_parameters_of_a_class_are_those_of_its_constructor(body, expected):
    assert names(rows(f"class C:\n    {body}\n")["pkg.C"]) == expected


def test_an_inherited_constructor_counts():
    found = rows({"pkg/__init__.py": "from ._b import B\nclass C(B): ...\n", "pkg/_b.py": "class B:\n"
                  "    def __init__(self, a): ...\n"})  # fmt: skip
    assert names(found["pkg.C"]) == ["a"]


def test_methods_lose_self_and_cls_and_static_ones_nothing():
    found = rows("""
        class C:
            def m(self, a): ...
            @classmethod
            def c(cls, a): ...
            @staticmethod
            def s(a): ...
    """)
    assert [names(found[f"pkg.C.{name}"]) for name in "mcs"] == [["a"], ["a"], ["a"]]


def test_dataclasses_have_the_parameters_of_their_fields():
    found = rows("""
        import dataclasses
        from dataclasses import dataclass, field
        from typing import ClassVar
        @dataclass
        class Base:
            a: int
            hidden: int = field(default=0, init=False)
            shared: ClassVar[int] = 3
        @dataclasses.dataclass(frozen=True)
        class C(Base):
            b: list[int] = field(default_factory=list)
            c: str = field(kw_only=True, default="x")
    """)
    assert parameters(found["pkg.C"]) == [
        ("a", "positional_or_keyword", None, "int", "synthesised"),
        ("b", "positional_or_keyword", "list()", "list[int]", "synthesised"),
        ("c", "keyword_only", "'x'", "str", "synthesised"),
    ]
    assert "dataclass" in found["pkg.C"]["labels"]


def test_keyword_only_marker():
    found = rows("""
        from dataclasses import KW_ONLY, dataclass
        @dataclass
        class C:
            a: int
            _: KW_ONLY
            b: int = 0
        @dataclass(init=False)
        class D:
            a: int
    """)
    assert [(p[0], p[1]) for p in parameters(found["pkg.C"])] == [
        ("a", "positional_or_keyword"),
        ("b", "keyword_only"),
    ]
    assert parameters(found["pkg.D"]) == []


def test_attrs_and_namedtuple():
    found = rows("""
        import attr
        from typing import NamedTuple
        @attr.s
        class A:
            x = attr.ib()
            _y = attr.ib(default=2)
        class N(NamedTuple):
            left: int
            right: int = 0
    """)
    assert [(p[0], p[2]) for p in parameters(found["pkg.A"])] == [("x", None), ("y", "2")]
    assert [(p[0], p[2]) for p in parameters(found["pkg.N"])] == [("left", None), ("right", "0")]


def test_a_function_that_stands_in_for_another_is_called_like_it():
    found = rows("""
        from .util import replaced_by
        def new_name(a, b=1): ...
        @replaced_by(new_name)
        def newName(): ...
        @replaced_by(elsewhere)
        def other(): ...
        @registered(new_name)
        def own(c):
            "So is sqlalchemy.testing.provision.update_db_opts made in 2.0.23."
    """)
    assert names(found["pkg.newName"]) == ["a", "b"]
    assert names(found["pkg.own"]) == ["c"]
    assert found["pkg.other"]["labels"] == ["unseen_signature"]


def test_values_are_cut_and_unpacked():
    found = rows(f"A, B = 1, 'two'\nLONG = '{'x' * 500}'\n")
    assert (found["pkg.A"]["value"], found["pkg.B"]["value"], len(found["pkg.LONG"]["value"])) == ("1", "'two'", 200)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('@deprecated("use g() instead", version="2.1")\ndef f(): ...', ("decorator", "2.1", None, "g")),
        ("@deprecated(replace='lib.g', version='2.0')\ndef f(): ...", ("decorator", "2.0", None, "lib.g")),
        ("@deprecate_kwarg('x')\ndef f(x): ...", None),
        (
            "def f():\n    msg = 'f is deprecated since 1.2, will be removed in version 3.0'\n"
            "    warnings.warn(msg, DeprecationWarning, stacklevel=2)",
            ("warning", "1.2", "3.0", None),
        ),
        ("def f(x=None):\n    if x:\n        warnings.warn('x is deprecated', DeprecationWarning)", None),
        ("def f():\n    warn('will return an array in 3.0', FutureWarning)", None),
        ("def f():\n    warn('will be removed in 3.0', FutureWarning)", ("warning", None, "3.0", None)),
        ("def f():\n    _warn_deprecated('use `g` instead')", ("warning", None, None, "g")),
        ("def f():\n    '''Old.\n\n    .. deprecated:: 0.7\n       Use :func:`g` instead.\n    '''",
         ("directive", "0.7", None, "g")),
        ("def f(x):\n    '''New.\n\n    :param x: what\n\n        .. deprecated:: 0.7\n    '''", None),
        ("class f:\n    def __init__(self):\n        warnings.warn('Gone soon', PendingDeprecationWarning)",
         ("warning", None, None, None)),
        (
            "def f():\n    warn(DeprecationWarning('use {} instead'.format(g)))",
            ("warning", None, None, None),
        ),
        (
            "def f():\n    warn(f'gone in {version()}; use %s instead' % 'x', DeprecationWarning)",
            ("warning", None, None, None),
        ),
        ("def f():\n    with lock:\n        warn('use ' 'g' + ' now', DeprecationWarning)", ("warning", None, None, None)),
        ("def f():\n    return 1\n    warn('gone', DeprecationWarning)", None),
        ("def f():\n    '''.. deprecated:: Use `g` instead.'''", ("directive", None, None, "g")),
        ("def f():\n    '''Old.\n\n    Deprecated since 2.1: use `g` instead.'''", ("directive", "2.1", None, "g")),
        ("f = deprecated(g, replace='pkg.g', version='3.0.0')", ("decorator", "3.0.0", None, "pkg.g")),
        ("try:\n    import fast\n    warnings.warn('fast is deprecated', DeprecationWarning)\nexcept ImportError:\n"
         "    pass\ndef f(): ...", None),
        ("def f(): ...", None),
    ],
)  # fmt: skip
def test_marks_of_deprecation(source, expected):
    mark = rows(source)["pkg.f"]["deprecation"]
    told = mark and (str(mark["channel"]), mark["since"], mark["removal"], mark["replacement"])
    assert told == expected


def test_what_one_channel_leaves_open_another_fills():
    source = "@deprecated\ndef f():\n    '''Old.\n\n    .. deprecated:: 2.0\n       Use `g` instead.\n    '''"
    mark = rows(source)["pkg.f"]["deprecation"]
    assert (str(mark["channel"]), mark["since"], mark["replacement"]) == ("decorator", "2.0", "g")


def test_documents_have_the_text_its_file_and_its_first_line():
    read = surface(
        {"pkg/__init__.py": '"""Top."""\n\n\ndef f():\n    """\n    First.\n\n        Indented.\n    """\n'},
        root="pkg-1.0/src/",
    )
    assert [
        (d["path"], d["docstring"], d["file"], d["line"])
        for d in sorted(read.documents.values(), key=lambda d: d["path"])
    ] == [
        ("pkg", "Top.", "pkg-1.0/src/pkg/__init__.py", 1),
        ("pkg.f", "First.\n\n    Indented.", "pkg-1.0/src/pkg/__init__.py", 6),
    ]
    assert read.symbols["pkg.f"]["docstring_sha256"] == sha256_text("First.\n\n    Indented.")


def test_labels_tell_what_cannot_be_seen():
    found = rows("""
        from other import Outside
        class A(Outside): ...
        class B(dict): ...
        class C(Exception, object):
            def __getattr__(self, name): ...
    """)
    assert [found[f"pkg.{name}"]["labels"] for name in "ABC"] == [
        ["extends:other.Outside"],
        ["extends:dict"],
        ["dynamic", "extends:Exception"],
    ]


def test_a_decorator_says_since_when_and_until_when_in_any_order():
    marks = [
        rows(f"@deprecated('go', {given})\ndef f(): ...\n")["pkg.f"]["deprecation"]
        for given in ("since='0.11', removal='0.12'", "removal='0.12', since='0.11'")
    ]
    assert [(mark["since"], mark["removal"]) for mark in marks] == [("0.11", "0.12")] * 2


def test_a_directive_that_begins_with_the_name_of_a_parameter_marks_nothing_else():
    source = 'def f(c):\n    """F.\n\n    ..  deprecated:: 17.4.0 {}\n    """\n'
    marks = [rows(source.format(text))["pkg.f"]["deprecation"] for text in ("*c* is old", "is old")]
    assert (marks[0], marks[1]["since"]) == (None, "17.4.0")


PRIVATE = "class {}:\n    def m(__self, __a, b, __c__): ...\n    def n(self, __d=1): ...\ndef f(__e): ...\n"


@pytest.mark.parametrize(("name", "prefix"), [("C", "_C"), ("_C", "_C"), ("__", "")])
def test_private_names_in_a_class_are_what_python_makes_of_them(name, prefix):
    # click 8.1: Context.invoke
    source = PRIVATE.format(name) + f"__all__ = ['{name}', 'f']\n"
    found = rows(source)
    names = {path: [p["name"] for p in row["parameters"]] for path, row in found.items()}
    assert names[f"pkg.{name}.m"] == [f"{prefix}__a", "b", "__c__"]
    assert names[f"pkg.{name}.n"] == [f"{prefix}__d"]
    assert names["pkg.f"] == ["__e"]
    scope: dict[str, Any] = {}
    exec(source, scope)
    seen = [parameter.name for parameter in inspect.signature(scope[name].m).parameters.values()]
    assert seen[1:] == names[f"pkg.{name}.m"]


def test_private_names_of_a_stub_are_left_as_they_are():
    found = rows({"pkg/__init__.pyi": PRIVATE.format("C")})
    assert [p["name"] for p in found["pkg.C.m"]["parameters"]] == ["__a", "b", "__c__"]


UNPACKED = """
from typing import NotRequired, Required, TypedDict, Unpack
class Base(TypedDict):
    a: int
    b: NotRequired[str]
class Options(Base, total=False):
    c: float
    d: Required[bytes]
def f(x, c=1, **kwargs: Unpack[Options]): ...
class C:
    def __init__(self, **kwargs: Unpack[Base]): ...
    def m(self, **kwargs: 'Unpack[Base]'): ...
    def other(self, **kwargs: int): ...
"""


def test_the_keys_of_an_unpacked_typed_dict_are_parameters():
    found = rows({"pkg/__init__.py": UNPACKED})
    told = {
        path: [(p["name"], p["default"], p["annotation"]) for p in row["parameters"] if p["known_from"] == "unpacked"]
        for path, row in found.items()
    }
    base = [("a", None, "int"), ("b", "...", "str")]
    assert told["pkg.f"] == [*base, ("d", None, "bytes")]
    assert (told["pkg.C"], told["pkg.C.m"], told["pkg.C.other"]) == (base, base, [])
    assert [p["name"] for p in found["pkg.f"]["parameters"]] == ["x", "c", "a", "b", "d", "kwargs"]
