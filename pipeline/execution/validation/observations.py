"""What the process of an answer gave back, compared with what is expected; nothing of it is run or trusted here."""

from __future__ import annotations

import ast
import builtins
import doctest
import importlib
import json
import operator
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.validation.constants import constant
from pipeline.execution.validation.splitting import Parted, Step

if TYPE_CHECKING:  # verifiers of exported tasks do not have it
    from pipeline.lake.rows import SnippetCheck

_UNICODE_PREFIX = re.compile(r"(?<!\w)u(?=['\"])")
_ALLOW_UNICODE = doctest.register_optionflag("ALLOW_UNICODE")
# Of these an answer cannot say itself that it came to them.
_NOT_OF_ANSWERS = frozenset({Outcome.PASSED, Outcome.HARNESS_ERROR, Outcome.NO_ENVIRONMENT, Outcome.BAD_SAMPLE})
_OUTCOMES = {outcome.value: outcome for outcome in Outcome if outcome not in _NOT_OF_ANSWERS}
_FRACTION = re.compile(r"-?\d+(/\d+)?", re.ASCII)
_REPR_LENGTH = 300

Judged = tuple[Outcome, str]
_PASSED: Judged = (Outcome.PASSED, "")
_NOT_OBSERVATIONS: Judged = (Outcome.SANDBOX_VIOLATION, "gave back what no harness gives")


def failing(outcome: object) -> Outcome:
    """Return the outcome of which the process of an answer says that it came to it: one that is wrong."""
    return _OUTCOMES.get(outcome if isinstance(outcome, str) else "", Outcome.WRONG_EXCEPTION)


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """A value of which only the type is known, and whether it counts as true; it equals nothing."""

    type: str
    truth: bool | None = None

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"a value of type {self.type}"


@dataclass(frozen=True, slots=True)
class Observed:
    """A value in built-in types, and the full name of the type that it had."""

    value: Any
    type: str


def decode(node: Any) -> Observed:
    """Return the value of the closed form, see `inside.observe.encode`.

    Errors: ValueError, TypeError, KeyError or RecursionError for what is none.
    """
    tag, content, *names = node
    kind = names[0] if names else f"builtins.{'NoneType' if tag == 'none' else tag}"
    if not isinstance(kind, str):
        raise TypeError(kind)
    return Observed(_content(tag, content, kind), kind)


def _fraction(text: str) -> Fraction:
    # No exponent, which would be worked out: "1e999999999" takes no time to write.
    if not _FRACTION.fullmatch(text):
        raise ValueError(text)
    return Fraction(text)


_SCALARS: Mapping[str, Callable[[Any], Any]] = {
    "none": lambda content: None,
    "bool": lambda content: content is True,
    "int": lambda content: int(content, 16),
    "float": float.fromhex,
    "complex": lambda content: complex(*map(float.fromhex, content)),
    "str": str,
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "decimal": Decimal,
    "fraction": _fraction,
}
_CONTAINERS: Mapping[str, Callable[[Any], Any]] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


def _content(tag: str, content: Any, kind: str) -> Any:
    if tag == "other":
        return Opaque(kind, content if isinstance(content, bool) else None)
    if tag == "dict":
        return {decode(key).value: decode(value).value for key, value in content}
    if tag in _CONTAINERS:
        return _CONTAINERS[tag](decode(item).value for item in content)
    return _SCALARS[tag](content)


def judge_tests(parted: Parted, observed: str) -> Judged:
    """Compare what the steps of tests gave with what each must; the first that does not decides, in their order."""
    try:
        tests = json.loads(observed)
        if len(tests) != len(parted.tests):
            return _NOT_OBSERVATIONS
        for (name, steps), observations in zip(parted.tests, tests, strict=True):
            outcome, message = _judge_test(steps, observations)
            if outcome is not Outcome.PASSED:
                return outcome, f"{name}: {message}"
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError, MemoryError):
        return _NOT_OBSERVATIONS
    return _PASSED


def _judge_test(steps: Sequence[Step], observations: Sequence[Mapping[str, Any]]) -> Judged:
    for number, step in enumerate(steps):
        if number >= len(observations):
            return Outcome.WRONG_EXCEPTION, "it ended before its end"
        observation = observations[number]
        if step.relation == "raises":
            judged = _judge_raised(step, observation)
        elif "raised" in observation:
            judged = failing(observation["outcome"]), str(observation["message"])
        elif step.relation == "warns":
            judged = _judge_warned(step, observation)
        elif step.relation:
            judged = _judge_value(step, decode(observation["value"]))
        else:
            judged = _PASSED
        if judged[0] is not Outcome.PASSED:
            return judged
    return _PASSED


def _judge_raised(step: Step, observation: Mapping[str, Any]) -> Judged:
    if "raised" not in observation:
        return Outcome.FAILED_ASSERTION, f"did not raise {step.operand}: {step.source}"
    if _matches_class(observation["raised"], step):
        return _PASSED
    return failing(observation["outcome"]), str(observation["message"])


def _judge_warned(step: Step, observation: Mapping[str, Any]) -> Judged:
    if any(_matches_class(classes, step) for classes in observation["warned"]):
        return _PASSED
    return Outcome.FAILED_ASSERTION, f"did not warn of {step.operand}: {step.source}"


def _matches_class(classes: Sequence[str], step: Step) -> bool:
    """Say whether an exception or warning is of a class that a test names; `classes` are its own and its bases.

    Of the built-in ones only the first counts, with its real bases: an answer that does not know which exception is
    expected could otherwise raise one that is derived from them all.
    """
    named = [str(name).rpartition(".") for name in literal_eval(step.operand)]
    for full_name in map(str, classes):
        module, _, name = full_name.rpartition(".")
        built_in = getattr(builtins, name, None) if module == "builtins" else None
        if isinstance(built_in, type):
            expected = (_built_in(owner, own) for owner, _, own in named)
            return any(kind is not None and issubclass(built_in, kind) for kind in expected)
        if any(own == name and (owner or not _is_built_in(own)) for owner, _, own in named):
            return True
    return False


def _built_in(module: str, name: str) -> type | None:
    """Return the built-in class of a name, also of a name of the standard library (`asyncio.TimeoutError`)."""
    owner: object = builtins
    if module and module != "builtins":
        if module.partition(".")[0] not in sys.stdlib_module_names:
            return None
        try:
            owner = importlib.import_module(module)
        except ImportError:
            return None
    kind = getattr(owner, name, None)
    return kind if isinstance(kind, type) and kind.__module__ == "builtins" else None


def _judge_value(step: Step, observed: Observed) -> Judged:
    if _holds(step, observed):
        return _PASSED
    text = repr(observed.value)
    text = text if len(text) <= _REPR_LENGTH else f"{text[:_REPR_LENGTH]}…"
    outside = "\nValues of this type cannot be compared: compare a string or number made from it."
    comparison = f"assert {step.source} {step.relation} {step.operand}\ngot: {text} ({observed.type})"
    return Outcome.FAILED_ASSERTION, comparison + (outside if isinstance(observed.value, Opaque) else "")


def _holds(step: Step, observed: Observed) -> bool:
    if step.relation == "type":
        own = observed.type.removeprefix("builtins.").rpartition(".")
        names = [name.rpartition(".") for name in literal_eval(step.operand)]
        return any(name[2] == own[2] and (name[0] != "" or own[0] == "" or not _is_built_in(name[2])) for name in names)
    node = parse_python(step.operand, mode="eval").body
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "approx":
        near = _is_near(observed.value, *map(constant, node.args))
        return near if step.relation == "==" else step.relation == "!=" and not near
    expected = constant(node)
    if step.relation in ("is", "is not"):
        same = (
            observed.type.startswith("builtins.")
            and type(observed.value) is type(expected)
            and observed.value == expected
        )
        return bool(same) == (step.relation == "is")
    if step.relation in ("!=", "not in") and isinstance(observed.value, Opaque):
        return False
    try:
        return bool(_RELATIONS[step.relation](observed.value, expected))
    except TypeError:
        return False


def _is_built_in(name: str) -> bool:
    return isinstance(getattr(builtins, name, None), type)


_RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "truth": lambda value, expected: (value.truth if isinstance(value, Opaque) else bool(value)) is expected,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda value, expected: value in expected,
    "not in": lambda value, expected: value not in expected,
    "contains": lambda value, expected: expected in value,
    "lacks": lambda value, expected: expected not in value,
}


def _is_near(value: Any, expected: Any, relative: float | None, absolute: float | None) -> bool:
    """Compare as pytest's `approx` does: by default within 1e-6 of what is expected, or within 1e-12."""
    if isinstance(expected, list | tuple):
        pairs = zip(value, expected, strict=False)
        same_kind = type(value) is type(expected) and len(value) == len(expected)
        return same_kind and all(_is_near(item, other, relative, absolute) for item, other in pairs)
    if isinstance(expected, dict):
        same_keys = isinstance(value, dict) and value.keys() == expected.keys()
        return same_keys and all(_is_near(value[key], other, relative, absolute) for key, other in expected.items())
    numbers = int | float | complex | Decimal | Fraction
    if not isinstance(value, numbers) or not isinstance(expected, numbers):
        return bool(value == expected)
    within = 1e-12 if absolute is None else absolute
    if absolute is None or relative is not None:
        within = max(within, (1e-6 if relative is None else relative) * abs(complex(expected)))
    return abs(complex(value) - complex(expected)) <= within


def judge_statements(checks: Sequence[SnippetCheck], options: Sequence[str], observed: str) -> Judged:
    """Compare what statements displayed with what is stated of them, as doctest does."""
    try:
        observations = json.loads(observed)
        if len(observations) != len(checks):
            return _NOT_OBSERVATIONS
        for check, observation in zip(checks, observations, strict=True):
            outcome, message = _judge_statement(check["expected"], flags_of([*options, *check["options"]]), observation)
            if outcome is not Outcome.PASSED:
                return outcome, message
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError):
        return _NOT_OBSERVATIONS
    return _PASSED


def flags_of(options: Sequence[str]) -> int:
    """Return the sum of doctest's flags of these names; unknown ones count nothing."""
    return sum({doctest.OPTIONFLAGS_BY_NAME.get(option, 0) for option in options})


def is_skipped(check: SnippetCheck, options: Sequence[str]) -> bool:
    """Say whether an example asks not to run a statement of its own."""
    return bool(flags_of([*options, *check["options"]]) & doctest.SKIP)


def _judge_statement(expected: str | None, flags: int, observation: Mapping[str, Any]) -> Judged:
    checker = doctest.OutputChecker()
    want = "" if expected is None else expected.rstrip("\n") + "\n"
    expected_error = doctest.DocTestParser._EXCEPTION_RE.match(want)  # type: ignore[attr-defined]
    if "raised" not in observation:
        wants = [want, *([_UNICODE_PREFIX.sub("", want)] if flags & _ALLOW_UNICODE else [])]
        if expected is None or any(checker.check_output(text, observation["printed"], flags) for text in wants):
            return _PASSED
        return Outcome.FAILED_ASSERTION, f"expected: {want.strip()}\ngot: {observation['printed'].strip()}"
    raised, failed = str(observation["raised"]), (failing(observation["outcome"]), str(observation["message"]))
    if expected_error is None:
        return failed
    if checker.check_output(expected_error.group("msg"), raised, flags):
        return _PASSED
    bare = doctest._strip_exception_details  # type: ignore[attr-defined]
    same_type = bare(expected_error.group("msg")) == bare(raised)
    if flags & doctest.IGNORE_EXCEPTION_DETAIL and same_type:
        return _PASSED
    if same_type:
        return Outcome.FAILED_ASSERTION, f"expected: {expected_error.group('msg').strip()}\ngot: {raised.strip()}"
    return failed
