"""Scopes: what a module, class or `__init__` binds, and what a name means there."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

import msgspec

from pipeline.api.surface.parse.expressions import expression_text
from pipeline.api.surface.parse.syntax import FUNCTIONS, Function, described_by


class Bound(msgspec.Struct):
    """A name that a statement binds: a function, a class with its scope, an attribute, or an import of `target`.

    `docstring` is the string as it stands in the source, in the function `described_in` or outside of functions; a
    function says itself which is its own. `overloads` are those of a function. An import is `as_itself` if it gives a
    name the name that it has: `from a import b as b`, `import a as a`.
    """

    name: str
    node: ast.stmt
    runtime: bool
    labels: set[str] = msgspec.field(default_factory=set)
    docstring: ast.Constant | None = None
    annotation: str | None = None
    value: ast.expr | None = None
    target: str | None = None
    as_itself: bool = False
    scope: Scope | None = None
    overloads: list[Bound] = msgspec.field(default_factory=list)
    described_in: Function | None = None

    @property
    def described(self) -> tuple[ast.Constant | None, Function | None]:
        """The docstring as it stands in the source, and the function that it stands in."""
        if isinstance(self.node, FUNCTIONS):
            return described_by(self.node.body[0]), self.node
        return self.docstring, self.described_in


@dataclass(slots=True)
class Scope:
    """What a module, class or `__init__` binds; `overloads` are those of functions without an implementation yet.

    `aside` are the methods of a class that nobody outside of it calls.
    """

    name: str
    path: str
    owner: ast.Module | ast.ClassDef | Function
    around: Scope | None = None
    bound: dict[str, Bound] = field(default_factory=dict)
    overloads: dict[str, list[Bound]] = field(default_factory=dict)
    aside: dict[str, Bound] = field(default_factory=dict)

    def resolve(self, name: str) -> str:
        """Return the absolute path of a name that is used here; the name itself if nothing in the file binds it."""
        if (bound := self.bound.get(name)) is not None:
            return bound.target or f"{self.path}.{name}"
        if self.around is None:
            return name
        return self.around.path if name == self.around.name and self.around.around else self.around.resolve(name)


def take_apart(scope: Scope) -> None:
    """Free what a scope holds: scopes and names hold each other, and would stay until they are collected."""
    for bound in scope.bound.values():
        inner, bound.scope = bound.scope, None
        if inner is not None and inner is not scope:
            take_apart(inner)
    scope.bound.clear()
    scope.overloads.clear()
    scope.aside.clear()


def reads_strings(scope: Scope) -> bool:
    """Return whether strings in annotations are forward references here: not under PEP 563, where none are needed."""
    while scope.around is not None:
        scope = scope.around
    imported = scope.bound.get("annotations")
    return imported is None or imported.target != "__future__.annotations"


def annotation_text(node: ast.expr | None, scope: Scope) -> str | None:
    """Return an annotation as text, forward references read as what they say."""
    if node is None:
        return None
    return node.id if type(node) is ast.Name else expression_text(node, scope.resolve if reads_strings(scope) else None)
