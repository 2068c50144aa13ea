"""Programs whose source shows that they need more than the sandbox has: files, network, a display, rights or time."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from ipaddress import ip_address
from posixpath import normpath
from typing import TypeGuard
from urllib.parse import urlsplit

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.rules import NeedRules, is_named
from pipeline.corpus.own_tests.suite import dotted_name
from pipeline.corpus.own_tests.suite_paths import PathScope, SuitePaths

_WRITING = frozenset("wax+")
"""Letters of a mode of `open` by which a program makes a file."""

_OWN_PACKAGE = frozenset({"__name__", "__package__"})


def refuse_unmet(text: str, rules: NeedRules) -> None:
    """Refuse a program whose source shows that it needs more than the sandbox has. Errors: Refused."""
    program = _Program(parse_python(text), rules)
    for word, reason in rules.words.items():
        if word in program.strings:
            raise Refused(reason, f"it asks for {word}")
    for call in program.calls:
        program.refuse_call(call)
    if path := program.paths.handed_over():
        raise Refused(RejectReason.NEEDS_FILES, f"it hands over {path}")
    if (slept := program.sleep_s()) > rules.max_sleep_s:
        raise Refused(RejectReason.TOO_SLOW, f"it sleeps for {slept:g} s, the limit is {rules.max_sleep_s:g} s")


class _Program:
    """A program: its calls, the modules and constants that its names stand for, and the paths of its suite."""

    def __init__(self, tree: ast.Module, rules: NeedRules) -> None:
        self._rules = rules
        self._nodes = list(ast.walk(tree))
        self._imports: dict[str, str] = {}
        for node in self._nodes:
            if isinstance(node, ast.Import):
                tops = {alias.name.partition(".")[0] for alias in node.names if not alias.asname}
                self._imports |= {top: top for top in tops}
                self._imports |= {alias.asname: alias.name for alias in node.names if alias.asname}
            elif isinstance(node, ast.ImportFrom):
                self._imports |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        self.calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        self.paths = SuitePaths(self._nodes, self.callee)

    def refuse_call(self, call: ast.Call) -> None:
        """Refuse a call that needs rights, a display, another machine or a file of the suite. Errors: Refused."""
        callee = self.callee(call)
        for reason, patterns in self._rules.calls.items():
            if is_named(callee, patterns):
                raise Refused(reason, f"it calls {callee}")
        if host := self._remote_host(call, callee):
            raise Refused(RejectReason.NEEDS_NETWORK, f"{callee} asks {host}")
        if path := self._file_needed(call, callee):
            raise Refused(RejectReason.NEEDS_FILES, f"{callee} needs {path}")

    def sleep_s(self) -> float:
        """Return for how many seconds the program states that it sleeps."""
        sleeps = [call for call in self.calls if call.args and is_named(self.callee(call), self._rules.sleeps)]
        whole = [
            call for call in sleeps if id(call) not in self._cut_short and not self._is_replaced(self.callee(call))
        ]
        durations = [self.literal(call.args[0]) for call in whole]
        return sum(seconds for seconds in durations if isinstance(seconds, int | float))

    def callee(self, call: ast.Call) -> str:
        """Return the dotted name of what is called, as the imports resolve it; `.name` of a method of an expression."""
        if name := self._resolved(call.func):
            return name
        return f".{call.func.attr}" if isinstance(call.func, ast.Attribute) else ""

    def literal(self, node: ast.expr) -> object:
        """Return the constant that an expression is, or its name stands for; of an f-string the constant beginning."""
        if isinstance(node, ast.Name):
            constant = self._constants.get(node.id)
            return constant.value if constant else None
        if isinstance(node, ast.JoinedStr):
            return self.literal(node.values[0]) if node.values else ""
        return node.value if isinstance(node, ast.Constant) else None

    def _remote_host(self, call: ast.Call, callee: str) -> str | None:
        """Return the host to which a call connects, if the program states one that is another machine."""
        rules, addresses = self._rules, list(_addresses(call))
        if any(is_named(name, rules.intercepts) for name in self._names):
            return None
        if is_named(callee, rules.urls):
            texts = [text for text in map(self.literal, addresses) if isinstance(text, str) and "://" in text]
        elif is_named(callee, (*rules.hosts, *rules.pairs)):
            pairs = [each.elts[0] for each in addresses[:1] if isinstance(each, ast.Tuple) and each.elts]
            names = map(self.literal, pairs or (addresses[:1] if is_named(callee, rules.hosts) else ()))
            texts = [f"//{name}" for name in names if isinstance(name, str)]
        else:
            return None
        return next((host for host in map(_host_of, texts) if not _is_loopback(host)), None)

    def _file_needed(self, call: ast.Call, callee: str) -> str | None:
        """Return the path that a call reads, or hands to other code, if the file is of the suite, as it is written."""
        name = callee.rpartition(".")[2]
        if id(call) in self._denied and self._rules.asks.search(name):
            return None
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        reads = self._rules.reads.search(name) is not None
        needed: list[ast.expr] = []
        if is_named(callee, self._rules.resources):
            needed = [each for each in call.args if isinstance(each, ast.Name) and each.id in _OWN_PACKAGE]
        elif is_named(callee, self._rules.opens) and call.args and self._is_missing(call.args[0], call):
            needed = [call.args[0]]
        elif reads and receiver is not None and (self.paths.scope(receiver) or self._is_missing_path(receiver, call)):
            needed = [receiver]
        elif reads or not self.paths.is_path(call):
            least = PathScope.SUITE if reads else PathScope.BELOW
            needed = [each for each in arguments if self.paths.scope(each) >= least]
        return next(map(ast.unparse, needed), None)

    def _is_missing_path(self, node: ast.expr, call: ast.Call) -> bool:
        """Say whether an expression is `Path("name")` of a file that the program lacks."""
        return isinstance(node, ast.Call) and self._is_path(node) and self._is_missing(node.args[0], call)

    def _is_path(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and len(node.args) == 1 and is_named(self.callee(node), ("pathlib.*",))

    def _is_missing(self, node: ast.expr, call: ast.Call) -> bool:
        """Say whether a call reads a relative path that no other part of the program mentions."""
        if self._rules.makes_files & self._words or self._writes(call):
            return False
        names = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
        paths = [self.literal(each) for each in names if isinstance(each, ast.Constant | ast.Name)]
        return any(
            isinstance(path, str)
            and not path.startswith(("/", "~"))
            and bool(path.strip("./"))
            and normpath(path) not in self._mentions
            for path in paths
        )

    def _writes(self, call: ast.Call) -> bool:
        """Say whether a call opens a file to write it, or in a mode that the program does not state."""
        callee = self.callee(call)
        if not is_named(callee, self._rules.modes):
            return False
        place = 0 if callee.startswith(".") else 1
        options = [*call.args[place : place + 1], *(each.value for each in call.keywords if each.arg == "mode")]
        modes = map(self.literal, options)
        # what follows a colon is the compression of an archive
        return any(not isinstance(mode, str) or _WRITING.intersection(mode.partition(":")[0]) for mode in modes)

    def _resolved(self, node: ast.expr) -> str:
        """Return the dotted name of an expression, as the imports resolve it; empty where it is none."""
        first, dot, rest = dotted_name(node).partition(".")
        return f"{self._imports.get(first, first)}{dot}{rest}"

    def _is_replaced(self, callee: str) -> bool:
        return any(f".{name}".endswith(f".{callee}") for name in self._replaced)

    @cached_property
    def _replaced(self) -> set[str]:
        """The dotted names that calls replace: `patch("time.sleep")`, `setattr(time, "sleep", f)`."""
        names: set[str] = set()
        for call in self.calls:
            if is_named(self.callee(call), self._rules.replaces):
                match [*call.args[:1], *map(self.literal, call.args[:2])]:
                    case [_, str() as name, *_]:
                        names.add(name)
                    case [ast.expr() as owner, _, str() as name]:
                        names.add(f"{self._resolved(owner)}.{name}")
        return names

    @cached_property
    def _cut_short(self) -> set[int]:
        """The identities of the nodes that run inside of a time-out or a task, also in functions called only there."""
        bounds = [each for each in self._nodes if self._is_bound(each)]
        inside = {id(node): node for each in bounds for node in ast.walk(each)}
        names = [node for node in self._nodes if isinstance(node, ast.Name)]
        called = {node.id for node in names if id(node) in inside} - {
            node.id for node in names if id(node) not in inside
        }
        functions = [each for each in self._nodes if isinstance(each, ast.AsyncFunctionDef) and each.name in called]
        return inside.keys() | {id(node) for each in functions for node in ast.walk(each)}

    def _is_bound(self, node: ast.AST) -> bool:
        contexts = [item.context_expr for item in node.items] if isinstance(node, ast.With | ast.AsyncWith) else [node]
        return any(isinstance(each, ast.Call) and is_named(self.callee(each), self._rules.bounds) for each in contexts)

    @cached_property
    def _denied(self) -> set[int]:
        """The identities of operands of `not`."""
        return {
            id(node.operand) for node in self._nodes if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        }

    @cached_property
    def strings(self) -> set[object]:
        """The constants of the program."""
        return {node.value for node in self._nodes if isinstance(node, ast.Constant)}

    @cached_property
    def _opened(self) -> set[int]:
        """The identities of the constants and names in paths that calls read."""
        reading = [each for each in self.calls if not self._writes(each) and id(each) not in self._denied]
        paths = [each.args[0] for each in reading if each.args and is_named(self.callee(each), self._rules.opens)]
        methods = [each.func for each in reading if isinstance(each.func, ast.Attribute)]
        methods = [each for each in methods if self._rules.reads.search(each.attr) and self._is_path(each.value)]
        paths += [each.value for each in methods]
        return {id(node) for path in paths for node in ast.walk(path)}

    @cached_property
    def _mentions(self) -> set[str]:
        """The strings of the program, also by name, but for paths that are read and operands of comparisons."""
        compares = [node for node in self._nodes if isinstance(node, ast.Compare)]
        left_out = {id(operand) for node in compares for operand in (node.left, *node.comparators)} | self._opened
        left_out |= {id(value) for value in self._constants.values()}
        texts = [self.literal(node) for node in self._nodes if _is_value(node) and id(node) not in left_out]
        return {normpath(text) for text in texts if isinstance(text, str)}

    @cached_property
    def _names(self) -> set[str]:
        """The bare names of the program, what is imported, and attributes of what is imported by their dotted names."""
        bare = {node.id for node in self._nodes if isinstance(node, ast.Name)}
        bare |= {node.arg for node in self._nodes if isinstance(node, ast.arg)}
        attributes = [node for node in self._nodes if isinstance(node, ast.Attribute)]
        of_imports = [node for node in attributes if dotted_name(node).partition(".")[0] in self._imports]
        return bare | {*self._imports.values(), *map(self._resolved, of_imports)}

    @cached_property
    def _words(self) -> set[str]:
        """The names in the program: variables, attributes, parameters, and what is imported."""
        words = {getattr(node, "id", getattr(node, "attr", getattr(node, "arg", None))) for node in self._nodes}
        return {word for word in words if word} | {part for name in self._imports.values() for part in name.split(".")}

    @cached_property
    def _constants(self) -> dict[str, ast.Constant]:
        """The names that stand for one constant each."""
        stored = Counter(
            node.id for node in self._nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        return {
            target.id: node.value
            for node in self._nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name) and stored[target.id] == 1
        }


def _is_value(node: ast.AST) -> TypeGuard[ast.expr]:
    """Say whether a node is a constant, or a name that is read."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def _addresses(call: ast.Call) -> Iterator[ast.expr]:
    """Yield what may state an address in a call, also in `Request("…")` as its argument."""
    for argument in (*call.args, *(each.value for each in call.keywords if each.arg in ("url", "host", "address"))):
        if isinstance(argument, ast.Call):
            yield from _addresses(argument)
        else:
            yield argument


def _host_of(url: str) -> str:
    """Return the host of a URL; nothing if it has none, or is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return host in ("", "localhost") or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified
