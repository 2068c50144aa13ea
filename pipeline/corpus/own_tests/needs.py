"""Programs whose source shows that they need more than the sandbox has: files, network, a display, rights or time."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from ipaddress import ip_address
from urllib.parse import urlsplit

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.rules import NeedRules, is_named
from pipeline.corpus.own_tests.suite import dotted_name
from pipeline.corpus.own_tests.suite_paths import Place, SuitePaths

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
        calls = [call for call in self.calls if call.args and is_named(self.callee(call), self._rules.sleeps)]
        durations = [self.literal(call.args[0]) for call in calls]
        return sum(seconds for seconds in durations if isinstance(seconds, int | float))

    def callee(self, call: ast.Call) -> str:
        """Return the dotted name of what is called, as the imports resolve it; `.name` of a method of an expression."""
        first, dot, rest = dotted_name(call.func).partition(".")
        if first:
            return f"{self._imports.get(first, first)}{dot}{rest}"
        return f".{call.func.attr}" if isinstance(call.func, ast.Attribute) else ""

    def literal(self, node: ast.expr) -> object:
        """Return the constant that an expression is, or its name stands for; of an f-string the constant beginning."""
        if isinstance(node, ast.Name):
            return self._constants.get(node.id)
        if isinstance(node, ast.JoinedStr):
            return self.literal(node.values[0]) if node.values else ""
        return node.value if isinstance(node, ast.Constant) else None

    def _remote_host(self, call: ast.Call, callee: str) -> str | None:
        """Return the host to which a call connects, if the program states one that is another machine."""
        rules, addresses = self._rules, list(_addresses(call))
        if rules.intercepts & self._words:
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
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        reads = self._rules.reads.search(callee.rpartition(".")[2]) is not None
        needed: list[ast.expr] = []
        if is_named(callee, self._rules.resources):
            needed = [each for each in call.args if isinstance(each, ast.Name) and each.id in _OWN_PACKAGE]
        elif is_named(callee, self._rules.opens) and call.args and self._is_missing(call.args[0], call):
            needed = [call.args[0]]
        elif reads and receiver is not None and (self.paths.place(receiver) or self._is_missing_path(receiver, call)):
            needed = [receiver]
        elif reads or not self.paths.is_path(call):
            least = Place.SUITE if reads else Place.BELOW
            needed = [each for each in arguments if self.paths.place(each) >= least]
        return next(map(ast.unparse, needed), None)

    def _is_missing_path(self, node: ast.expr, call: ast.Call) -> bool:
        """Say whether an expression is `Path("name")` of a file that the program lacks."""
        is_path = isinstance(node, ast.Call) and is_named(self.callee(node), ("pathlib.*",)) and len(node.args) == 1
        return is_path and isinstance(node, ast.Call) and self._is_missing(node.args[0], call)

    def _is_missing(self, node: ast.expr, call: ast.Call) -> bool:
        """Say whether a call reads a relative path that no other part of the program makes."""
        if self._rules.makes_files & self._words or self._writes(call):
            return False
        names = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
        paths = [(each, self.literal(each)) for each in names if isinstance(each, ast.Constant | ast.Name)]
        return any(
            isinstance(path, str)
            and not path.startswith(("/", "~"))
            and bool(path.strip("./"))
            # A constant or `Path("name")` states the path itself.
            and self._mentions[path] <= (id(each) not in self._opened)
            for each, path in paths
        )

    def _writes(self, call: ast.Call) -> bool:
        is_method = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)
        options = [*call.args[not is_method : 2], *(each.value for each in call.keywords if each.arg == "mode")]
        modes = [mode for mode in map(self.literal, options) if isinstance(mode, str)]
        return any(_WRITING.intersection(mode) for mode in modes)

    @cached_property
    def strings(self) -> set[object]:
        """The constants of the program."""
        return {node.value for node in self._nodes if isinstance(node, ast.Constant)}

    @cached_property
    def _opened(self) -> set[int]:
        """The identities of the paths that calls read."""
        calls = [each for each in self.calls if is_named(self.callee(each), self._rules.opens)]
        paths = [each.args[0] for each in calls if each.args and not self._writes(each)]
        return {id(node) for path in paths for node in ast.walk(path) if isinstance(node, ast.Constant)}

    @cached_property
    def _mentions(self) -> Counter[str]:
        """How often each string stands in the program, without paths that are read and operands of comparisons."""
        compares = [node for node in self._nodes if isinstance(node, ast.Compare)]
        left_out = {id(operand) for node in compares for operand in (node.left, *node.comparators)} | self._opened
        constants = [node for node in self._nodes if isinstance(node, ast.Constant) and id(node) not in left_out]
        return Counter(node.value for node in constants if isinstance(node.value, str))

    @cached_property
    def _words(self) -> set[str]:
        """The names in the program: variables, attributes, parameters, and what is imported."""
        words = {getattr(node, "id", getattr(node, "attr", getattr(node, "arg", None))) for node in self._nodes}
        return {word for word in words if word} | {part for name in self._imports.values() for part in name.split(".")}

    @cached_property
    def _constants(self) -> dict[str, object]:
        """The names that stand for one constant each."""
        stored = Counter(
            node.id for node in self._nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        return {
            target.id: node.value.value
            for node in self._nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name) and stored[target.id] == 1
        }


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
