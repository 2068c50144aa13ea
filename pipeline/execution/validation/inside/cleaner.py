"""Empties the scratch folders between cases: a small process, begun before the library is loaded, with cheap forks.

A fork copies the page tables of its process, which for a server that holds a large library takes longer than a case.
"""

import contextlib
import json
import os

from . import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 1 << 16


class Cleaner:
    """The process and the way to it, which no case has; it is as well shielded as the server."""

    def __init__(self, uid: int, leave: "Callable[[], None]") -> None:
        """Start it; `leave` closes in it what the server alone may have."""
        orders, answers = os.pipe(), os.pipe()
        if not os.fork():
            try:
                leave()
                os.close(orders[1])
                os.close(answers[0])
                kernel.shield()
                clean(uid, orders[0], answers[1])
            finally:
                os._exit(0)
        os.close(orders[0])
        os.close(answers[1])
        self.orders, self.answers = orders[1], answers[0]

    def wiped(self, allowed: "frozenset[str]") -> bool:
        """Remove all that is not known; say whether all of it is gone."""
        extra = kernel.scratch_entries() - allowed
        if extra:
            content = json.dumps(sorted(extra)).encode() + b"\n"
            while content:
                content = content[os.write(self.orders, content) :]
            os.read(self.answers, 1)
        return kernel.scratch_entries() <= allowed and not kernel.has_ipc()

    def close(self) -> None:
        """Close the way to it in a process that is not to have it."""
        os.close(self.orders)
        os.close(self.answers)


def clean(uid: int, orders: int, answers: int) -> None:
    """Remove the paths of each order, a line of JSON, until there is no more: first as the user of the cases."""
    pending = b""
    while True:
        chunk = os.read(orders, _CHUNK)
        if not chunk:
            return
        pending += chunk
        while b"\n" in pending:
            order, _, pending = pending.partition(b"\n")
            paths = json.loads(order.decode())
            kernel.as_user(uid, kernel.remove_all, paths)
            with contextlib.suppress(OSError):  # what is left is noticed
                kernel.remove_all([path for path in paths if os.path.lexists(path)])
            os.write(answers, b".")
