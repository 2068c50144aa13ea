"""The order in which Python looks a member up in the bases of a class."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import griffe

from pipeline.api.surface.resolve.resolution import Resolution


def in_order(
    class_: Resolution, bases_of: Callable[[Resolution], list[Resolution]], visited: frozenset[str] = frozenset()
) -> list[Resolution]:
    """Return a class and all that it derives from, in Python's own order.

    That is C3 ("The Python 2.3 Method Resolution Order"). Bases outside have their place in it, what they inherit from
    has none. Where the bases cannot be ordered so, one of them is not what it seems here, and a shared base comes after
    all that derive from it. A class among its own bases is left out there.
    """
    bases = [base for base in bases_of(class_) if base.path not in visited]
    above = visited | {class_.path}
    lines = [in_order(base, bases_of, above) if base.is_class else [base] for base in bases]
    if len(lines) < 2:
        return [class_, *chain(*lines)]
    places = {resolution.path: resolution for resolution in chain(*lines)}
    try:
        paths = griffe.c3linear_merge(*([resolution.path for resolution in line] for line in [*lines, bases]))
    except ValueError:
        paths = [*dict.fromkeys(resolution.path for resolution in reversed([*chain(*lines)]))][::-1]
    return [class_, *(places[path] for path in paths)]
