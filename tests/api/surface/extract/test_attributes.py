"""Attributes that come into being outside `__init__`."""

import pytest

from tests.api.surface.trees import rows

OF_OBJECT = ["instance-attribute", "set-outside-init"]
OF_CLASS = ["class-attribute", "set-outside-init"]

CASES: dict[str, tuple[str, dict[str, list[str]]]] = {
    "plain, annotated and unpacked": (
        """
        def fit(self, X):
            self.coef_ = X
            self.n_iter_: int = 3
            self.a, self.b = X
            x, self.c = self.d = X
            (
                self.e,
                self.f,
            ) = X
            [self.g, *self.h] = X
            y[self.i], self.j = X
        """,
        dict.fromkeys(["coef_", "n_iter_", *"abcdefghj"], OF_OBJECT),
    ),
    "targets over several lines (scikit-learn 0.24.2, AgglomerativeClustering.fit)": (
        """
        def fit(self, X):
            (self.a,
             self.b,
             parents) = X
            (parents,
             self.c, n) = X
            self.d, self.e, \\
                self.f = X
            [x,
             self.g] = X
        """,
        dict.fromkeys("abcdefg", OF_OBJECT),
    ),
    "inside other statements": (
        """
        async def m(this, x):
            if x:
                with lock:
                    this.a = 1
            else:
                try:
                    for _ in x: this.b = 2
                finally:
                    this.c = 3
        """,
        dict.fromkeys("abc", OF_OBJECT) | {"b": OF_OBJECT},
    ),
    "not what is read, compared, changed, private, another's or a string's": (
        """
        def m(self, other):
            self.a += 1
            self._b = 1
            other.c = self.d
            self.e == 1
            self.f.g = 2
            self.h[0] = 3
            f(
                self.i, k=1)
            x = {
                self.j: 1}
            text = '''
            self.k = 1
            '''
            def inner(self):
                self.l = 1
        @staticmethod
        def s(self):
            self.t = 1
        """,
        {},
    ),
    "classmethods and hooks of the class": (
        """
        @classmethod
        def make(cls):
            cls.a = 1
        def __init_subclass__(cls):
            cls.b = 1
        """,
        dict.fromkeys("ab", OF_CLASS),
    ),
    "the object that __new__ makes": (
        """
        def __new__(cls, a):
            made = super().__new__(cls)
            made.a = a
            cls.b = 1
            return made
        """,
        {"a": OF_OBJECT},
    ),
    "not what the class declares": (
        """
        a = 1
        b: int
        __slots__ = ("c",)
        @property
        def d(self): ...
        @d.setter
        def d(self, value):
            self.a = self.b = self.c = self.e = value
        def __init__(self):
            self.e = 1
        def f(self):
            self.f = self.d = 1
        """,
        {},
    ),
}


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES)
def test_attributes_set_outside_init(body, expected):
    found = rows("class C:\n" + body)
    labels = {path.removeprefix("pkg.C."): row["labels"] for path, row in found.items() if path.startswith("pkg.C.")}
    assert {name: given for name, given in labels.items() if "set-outside-init" in given} == expected


def test_an_annotation_is_kept():
    row = rows("class C:\n    def m(self):\n        self.x: list[int] = []\n")["pkg.C.x"]
    assert (row["kind"], row["returns"], row["value"]) == ("attribute", "list[int]", None)


def test_what_a_loop_over_names_sets():
    source = """
        class C:
            def _init(self, machine):
                for word in ["precision", "_own", name]:
                    setattr(self, word, getattr(machine, word))
                for word in ("other",):
                    setattr(machine, word, 1)
    """
    assert {path for path in rows(source) if path.startswith("pkg.C.")} == {"pkg.C.precision"}
