"""A process in a sandbox that stays, to be talked to over its pipes: the fork server."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import IO

from pipeline.execution.sandbox.processes import Launch, Tree


class Session:
    """A process that stays. Its limits of time and output are the business of whoever talks to it."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.stdin: IO[bytes] = tree.pipes["stdin"]
        self.stdout: IO[bytes] = tree.pipes["stdout"]
        self.stderr: IO[bytes] = tree.pipes["stderr"]

    def memory_bytes(self, enough: int = 0) -> int:
        """Return the resident bytes of the tree; pages shared by processes count once if the sum is over `enough`."""
        return self._tree.memory_bytes(enough)

    def files(self) -> int:
        """Return how many files and folders are in its scratch folders."""
        return self._tree.scratch(sys.maxsize, sys.maxsize)[0]

    def end(self) -> None:
        """Kill the process and everything that it started; more than once does no harm."""
        self._tree.end()


@contextlib.contextmanager
def session(launch: Launch) -> Iterator[Session]:
    """Start a process that stays until the end of the `with` block at the latest."""
    tree = Tree(launch)
    try:
        yield Session(tree)
    finally:
        tree.end()
