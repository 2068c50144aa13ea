"""What documentation means where it says what to use instead."""

from __future__ import annotations

import re

from pipeline.families.completions_and_migrations.history import History


def resolve(words: str, path: str, version: str, history: History) -> str | None:
    """Return the public path that a stated replacement means, seen from the API it replaces, or None.

    `chunked`, `:func:`more_itertools.chunked``, `Flask.json` and `other_method()` are all ways that documentation
    names an API; each is tried as it is and below each parent of the replaced path, nearest first.
    """
    named = re.search(r"[A-Za-z_][\w.]*", re.sub(r":[\w:]+:(?=`)", "", words))
    if named is None:
        return None
    name = named[0].rstrip(".")
    parents = path.split(".")[:-1]
    tries = [".".join([*parents[:depth], name]) for depth in range(len(parents), -1, -1)]
    return next((candidate for candidate in tries if candidate != path and history.is_public(candidate, version)), None)
