"""The garbage collector, switched off where it only walks over what is all alive."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.core.syntax_trees import PARSING


@contextmanager
def without_collector() -> Iterator[None]:
    """Switch the garbage collector off: syntax trees and rows are all alive until they are all dead.

    Walking over hundreds of thousands of rows again and again costs more than making them; so does one walk at the
    end, and what is alive then is put with the old objects unseen.
    """
    enabled = gc.isenabled()
    try:
        if enabled:  # else another thread might switch it on between the two, and it would stay off
            gc.disable()
        yield
    finally:
        if enabled:
            # Another thread may parse, which no collection may disturb.
            with PARSING:
                gc.freeze()
                gc.unfreeze()
                gc.enable()
