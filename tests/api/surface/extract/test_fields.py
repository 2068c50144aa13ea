"""Parameters made of fields: what Python itself says of such a class, when it is run, is what must be read."""

import inspect
from textwrap import dedent
from typing import Any

import pytest

from tests.api.surface.trees import rows

DATACLASS = """
    import dataclasses
    from dataclasses import KW_ONLY, InitVar, dataclass, field
    from typing import TYPE_CHECKING, ClassVar
    @dataclass
    class Base:
        a: int
        b: int = 1
        hidden: int = field(default=0, init=False)
        shared: ClassVar[int] = 3
        seed: InitVar[int] = 5
        def __post_init__(self, seed): ...
    @dataclass(kw_only=True)
    class C(Base):
        c: list = field(default_factory=list)
        a: str = "moved"
    @dataclasses.dataclass
    class D(Base):
        _: KW_ONLY
        d: int = 0
        e: int = field(default=2, kw_only=False)
    class E(D):
        not_a_field: int = 3
    @dataclass
    class F:
        f: int
        if TYPE_CHECKING:
            g: int = field(default=1)
        else:
            g: int = field(default=1, kw_only=True)
"""

ATTRS = """
    import attr
    import attrs
    from attrs import define, field
    @define
    class A:
        _x: int
        y: int = field(default=2, alias="why")
        z: list = field(factory=list, kw_only=True)
    @attr.s
    class B:
        bare: int = 3
        a = attr.ib()
        b = attr.ib()
        @b.default
        def _b(self): return 4
    @attr.s(auto_attribs=True, kw_only=True)
    class C:
        a: int
        b: int = attr.ib(default=1)
    @attrs.frozen
    class D(A):
        w: int = 0
        unannotated = 5
"""

NAMED = """
    import collections
    from collections import namedtuple
    from typing import NamedTuple
    P = namedtuple("P", "x y")
    Q = collections.namedtuple("Q", ["a", "b", "c"], defaults=(1, None))
    R = namedtuple("R", "a, b", defaults=(None,) * 2)
    N = NamedTuple("N", [("left", int), ("right", str)])
    class S(namedtuple("S", ("s", "t"))):
        __slots__ = ()
        def both(self): ...
    class T(NamedTuple):
        u: int
        v: int = 0
"""

PYDANTIC = """
    from typing import Annotated, ClassVar, Optional
    from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, RootModel
    class Base(BaseModel):
        model_config = ConfigDict(extra="ignore")
        x: int
        y: Optional[str] = None
        shared: ClassVar[int] = 1
        _private: int = PrivateAttr(default=1)
        def method(self): ...
    class M(Base):
        z: int = Field(3, alias="zed")
        w: list[int] = Field(default_factory=list)
        v: Annotated[int, Field(alias="vee")]
        u: int = Field(...)
        x: float = 2.0
    class Given(Base):
        def __init__(self, first, **data): ...
    class Numbers(RootModel[list[int]]):
        pass
"""


_NONE = {repr(inspect.Parameter.empty), "PydanticUndefined"}


def run(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": __name__}
    exec(dedent(source), names)
    return names


def seen(source: str) -> dict[str, list[tuple[str, str, bool]]]:
    """Return the parameters of each class of the source: name, kind, whether it may be left out."""
    made = {path: row for path, row in rows(dedent(source)).items() if row["kind"] == "class"}
    return {
        path.removeprefix("pkg."): [(p["name"], str(p["kind"]), p["default"] is not None) for p in row["parameters"]]
        for path, row in made.items()
    }


def signature(made: Any) -> list[tuple[str, str, bool]]:
    parameters = inspect.signature(made).parameters.values()
    # the root of a pydantic model has a value of its own that stands for none
    return [(p.name, p.kind.name.lower(), repr(p.default) not in _NONE) for p in parameters]


@pytest.mark.parametrize("source", [DATACLASS, ATTRS, NAMED, PYDANTIC], ids=["dataclass", "attrs", "named", "pydantic"])
def test_parameters_are_those_that_running_shows(source):
    names, read = run(source), seen(source)
    assert len(read) >= 4
    assert read == {name: signature(names[name]) for name in read}


def test_fields_of_named_tuples_are_on_the_class():
    names, found = run(NAMED), rows(dedent(NAMED))
    for path, row in found.items():
        if row["kind"] == "attribute":
            _, owner, name = path.split(".")
            assert hasattr(names[owner], name)
    assert {"pkg.P.x", "pkg.Q.c", "pkg.N.right", "pkg.S.t", "pkg.T.v"} <= set(found)
    assert (found["pkg.P"]["kind"], found["pkg.P"]["bases"]) == ("class", ["tuple"])


def test_models_are_known_through_the_distribution_and_inside_pydantic_itself():
    files = {
        "pydantic/__init__.py": "from .main import BaseModel\nfrom .root_model import RootModel\n",
        "pydantic/main.py": "class BaseModel:\n    model_fields: dict\n    def __init__(self, **data): ...\n",
        "pydantic/root_model.py": "from .main import BaseModel\nclass RootModel(BaseModel):\n    root: int\n"
        "    def __init__(self, root, **data): ...\n",
        "pydantic/errors.py": "from pydantic import BaseModel\nclass Problem(BaseModel):\n    line: int\n",
        "pydantic/color.py": "from .errors import Problem\nclass Color(Problem):\n    name: str = 'red'\n",
    }
    found = rows(files)
    assert [p["name"] for p in found["pydantic.BaseModel"]["parameters"]] == ["data"]
    assert [p["name"] for p in found["pydantic.RootModel"]["parameters"]] == ["root", "data"]
    assert [(p["name"], p["default"]) for p in found["pydantic.color.Color"]["parameters"]] == [
        ("line", None),
        ("name", "'red'"),
    ]


def test_dataclass_transform_inside_the_distribution():
    found = rows("""
        from typing import dataclass_transform
        @dataclass_transform(kw_only_default=True)
        class Base:
            internal: int = 0
        class Model(Base):
            a: int
            b: str = "x"
        @dataclass_transform(field_specifiers=(field,))
        def model(cls): ...
        @model
        class Other:
            c: int
            d: int = field(default=1, init=False)
        class Plain:
            e: int
    """)
    parameters = {
        name: [(p["name"], str(p["kind"])) for p in found[f"pkg.{name}"]["parameters"]]
        for name in ("Base", "Model", "Other", "Plain")
    }
    assert parameters == {
        "Base": [],
        "Model": [("a", "keyword_only"), ("b", "keyword_only")],
        "Other": [("c", "positional_or_keyword")],
        "Plain": [],
    }
    assert "dataclass_transform" in found["pkg.Model"]["labels"]


SPECIFIED = """
import dataclasses
from typing import dataclass_transform
def jsonld_field(default=None, *, url=None): ...
@dataclass_transform(field_specifiers=(jsonld_field,))
def data(cls): return dataclasses.dataclass(cls)
class Mixin:
    no: int
@dataclasses.dataclass
class Node:
    id: str = ""
"""


@pytest.mark.parametrize(
    ("class_", "expected"),
    [
        # mlcroissant 1.1: the fields of a dataclass, and those that calls of a function of the library declare
        ("@data\nclass C(Mixin, Node):\n    a: int = jsonld_field(default=1, url='x')\n", [("id", "''"), ("a", "1")]),
        ("@data\nclass C(Node):\n    a: int = jsonld_field(init=False)\n", [("id", "''")]),
        ("@data\nclass C(Node):\n    a: list = jsonld_field(default_factory=list)\n", [("id", "''"), ("a", "list()")]),
        (
            "@data\nclass C:\n    a: int = jsonld_field(url='x')\n    b: int = other(2)\n",
            [("a", None), ("b", "other(2)")],
        ),
        ("@data\nclass C:\n    a: int = jsonld_field(alias='b', default=1)\n", [("b", "1")]),
        ("class C(Node):\n    a: int = 1\n", [("id", "''")]),
    ],
)
def test_fields_that_functions_of_the_distribution_declare(class_: str, expected: list[tuple[str, str | None]]) -> None:
    found = rows(SPECIFIED + class_)
    assert [(p["name"], p["default"]) for p in found["pkg.C"]["parameters"]] == expected


PYDANTIC = """
import dataclasses
from pydantic import Field
from pydantic.dataclasses import dataclass

@dataclass
class Model:
    a: int
    b: int = Field(5)
    c: list[int] = Field(default_factory=list)
    d: int = Field(default=1, alias="dd")
    e: int = Field(..., kw_only=True)
    f: int = dataclasses.field(default=2, init=False)
"""


def test_the_dataclasses_of_pydantic_take_what_they_say():
    parameters = rows(PYDANTIC)["pkg.Model"]["parameters"]
    scope: dict[str, Any] = {}
    exec(PYDANTIC, scope)
    seen = inspect.signature(scope["Model"]).parameters.values()
    assert [(p["name"], str(p["kind"]), p["default"] is None) for p in parameters] == [
        (p.name, p.kind.name.lower(), p.default is p.empty) for p in seen
    ]
