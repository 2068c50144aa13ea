"""The text of a lock: pins with hashes in pip's format, and which of them are built from source, and how."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from pipeline.core.errors import InputError
from pipeline.lake.ids import content_id

_PIN = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)*)==([A-Za-z0-9.+!_-]+) \\")
_HASH = re.compile(r"    --hash=sha256:([0-9a-f]{64})( \\)?")
_BUILT = re.compile(r"    # built from source as of (\S+Z)(?: with (.+))?")
_CONSTRAINT = re.compile(r"[A-Za-z0-9._-]+[<>=!~]=?[A-Za-z0-9.*+!]+(,[<>=!~]=?[A-Za-z0-9.*+!]+)*")
_STAMP = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True)
class Built:
    """How a source distribution is built: with build requirements as of a time, and constraints on them."""

    as_of: datetime
    constraints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pin:
    """One distribution of a lock; `built` is None for what is installed from a wheel of the index."""

    name: str
    version: str
    sha256s: tuple[str, ...]
    built: Built | None = None

    @property
    def requirement(self) -> str:
        """The distribution itself, without hashes."""
        return f"{self.name}=={self.version}"


def lock_id_of(python: str, lock: str) -> str:
    """Return the id by which an environment is known: the hash of the interpreter's X.Y and of its lock."""
    return content_id(python, lock)


def read_lock(text: str) -> list[Pin]:
    """Return the pins of a lock.

    Errors: ValueError for a line that is neither a pin with hashes nor our comment. A lock that a build had its hands
    on, or that stands in a snapshot, is believed no further than this: it names no address, no file and no option.
    """
    pins: list[Pin] = []
    lines = iter(text.splitlines())
    for line in lines:
        match = _BUILT.fullmatch(line)
        if match and pins:
            pins[-1] = Pin(pins[-1].name, pins[-1].version, pins[-1].sha256s, _built(match[1], match[2] or ""))
            continue
        pin = _PIN.fullmatch(line)
        if not pin:
            raise InputError(f"not a pin with hashes: {line[:200]!r}", code="lock_line_invalid")
        pins.append(Pin(pin[1], pin[2], tuple(_hashes(lines))))
    return pins


def any_built(text: str) -> bool:
    """Whether a lock says that anything is built from source."""
    return any(_BUILT.fullmatch(line) for line in text.splitlines())


def write_lock(pins: Iterable[Pin]) -> str:
    """Return the text of a lock, for pip, uv and `read_lock`."""
    return "".join(_written(pin) for pin in pins)


def _written(pin: Pin) -> str:
    hashes = " \\\n".join(f"    --hash=sha256:{sha256}" for sha256 in pin.sha256s)
    text = f"{pin.requirement} \\\n{hashes}\n"
    if pin.built:
        constraints = f" with {', '.join(pin.built.constraints)}" if pin.built.constraints else ""
        text += f"    # built from source as of {pin.built.as_of.strftime(_STAMP)}{constraints}\n"
    return text


def _hashes(lines: Iterator[str]) -> Iterator[str]:
    """Yield the hashes of a pin, up to the line that does not go on."""
    for line in lines:
        match = _HASH.fullmatch(line)
        if not match:
            raise InputError(f"not a sha256: {line[:200]!r}", code="lock_line_invalid")
        yield match[1]
        if not match[2]:
            return
    raise InputError("the lock ends in the middle of a pin", code="lock_line_invalid")


def _built(as_of: str, constraints: str) -> Built:
    words = tuple(constraints.split(", ")) if constraints else ()
    for word in words:
        if not _CONSTRAINT.fullmatch(word):
            raise InputError(f"not a constraint: {word[:200]!r}", code="lock_line_invalid")
    return Built(datetime.strptime(as_of, f"{_STAMP[:-1]}%z"), words)
