"""Which lines of a project's functions a test executes, and which of them calls which.

One trace function sees both on every Python from 3.6 on, and nothing has to be installed beside the project's own.
"""

import os
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    Place = tuple[int, int]

_ENOUGH = 20_000  # lines that a function executes in a test without reaching a new one
_FRAMES = 4
_OPTIMIZED = 1  # CO_OPTIMIZED: the code of a function; those of modules and classes are not


class Tracer:
    """Notes, test by test, what is executed of some files; places are (number of the file, first line of the code).

    A test that makes more than `most` calls is followed no further, and `over` is told; one whose threads run code of
    the project is not followed at all.
    """

    def __init__(self, folder: str, sources: "list[str]", most: int, over: "Callable[[], None]") -> None:
        self.files = {os.path.join(folder, *path.split("/")): number for number, path in enumerate(sources)}
        self.in_thread = False
        self.places: dict[int, tuple[Place | None, CodeType]] = {}
        self.lines: dict[str, dict[int, set[int]]] = {}
        self.calls: dict[str, set[tuple[Place, Place]]] = {}
        self.now: dict[int, set[int]] = {}
        self.edges: set[tuple[Place, Place]] = set()
        self.followers: dict[int, Follower] = {}
        self.most = self.left = most
        self.over = over

    def begin(self, test: str) -> None:
        """Note from now on what a test executes."""
        self.now = self.lines.setdefault(test, {})
        self.edges = self.calls.setdefault(test, set())
        self.followers = {}
        self.left, self.in_thread = self.most, False
        threading.settrace(self.enter_in_thread)
        sys.settrace(self.enter)

    def end(self) -> None:
        """Note nothing any more."""
        sys.settrace(None)
        threading.settrace(None)
        if self.in_thread:
            # What threads do is never done twice in the same order.
            self.now.clear()
            self.edges.clear()

    def place_of(self, code: "CodeType") -> "Place | None":
        """Return where the code of a function of the project stands, None for all other code."""
        entry = self.places.get(id(code))
        if entry is None:
            number = self.files.get(code.co_filename)
            is_own = number is not None and code.co_flags & _OPTIMIZED
            place = (number, code.co_firstlineno) if is_own and number is not None else None
            # The code is kept, so that no other one gets its identity.
            entry = self.places[id(code)] = (place, code)
        return entry[0]

    def caller_of(self, frame: "Any") -> "Place | None":
        """Return the function of the project that called, also through a few frames of others: wrappers, properties."""
        back = frame.f_back
        for _ in range(_FRAMES):
            if back is None:
                return None
            place = self.place_of(back.f_code)
            if place is not None:
                return place
            back = back.f_back
        return None

    def enter_in_thread(self, frame: "Any", event: str, arg: "Any") -> None:
        """Note that a thread runs code of the project."""
        if self.place_of(frame.f_code) is not None:
            self.in_thread = True
            sys.settrace(None)

    def enter(self, frame: "Any", event: str, arg: "Any") -> "Any":
        """Follow the functions of the project, and let others run untraced."""
        code = frame.f_code
        entry = self.places.get(id(code))
        place = entry[0] if entry is not None else self.place_of(code)
        if place is None:
            return None
        self.left -= 1
        if self.left < 0:
            self.end()
            self.over()
            return None
        caller = self.caller_of(frame)
        if caller is not None:
            self.edges.add((caller, place))
        follow = self.followers.get(id(code))
        if follow is None:
            follow = self.followers[id(code)] = Follower(self.now.setdefault(place[0], set()))
        return follow.line if follow.left else None

    def report(self) -> "dict[str, Any]":
        """Return for each test the lines by the file's number, and the calls as places of caller and callee."""
        return {
            test: {
                "lines": {str(number): sorted(lines) for number, lines in sorted(files.items())},
                "calls": sorted([*caller, *callee] for caller, callee in self.calls[test]),
            }
            for test, files in self.lines.items()
        }


class Follower:
    """Notes the lines of one function in one test, until it has seen nothing new for long."""

    __slots__ = ("left", "reached")

    def __init__(self, reached: "set[int]") -> None:
        self.reached = reached
        self.left = _ENOUGH

    def line(self, frame: "Any", event: str, arg: "Any") -> "Any":
        """Note a line; a loop that goes round and round is left alone after a while, which is counted, not timed."""
        if event == "line":
            number = frame.f_lineno
            if number not in self.reached:
                self.reached.add(number)
                self.left = _ENOUGH
            elif self.left:
                self.left -= 1
            else:
                frame.f_trace = None
                return None
        return self.line
