"""The body of an answer as it comes, so that one that drips or breaks off is told from one that is whole."""

from __future__ import annotations

import time
from collections.abc import Iterator

from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError

from pipeline.index.http import BrokenOff

CHUNK = 1 << 16


def chunks(url: str, answer: BaseHTTPResponse, max_s: float) -> Iterator[bytes]:
    """Yield what of a body has come, as soon as it comes; the answer is closed at the end, whatever the end is.

    Errors: BrokenOff where it ends before its announced length, or is not whole after so many seconds.
    """
    end = time.monotonic() + max_s
    length = 0
    try:
        while chunk := answer.read1(CHUNK, decode_content=True):
            length += len(chunk)
            yield chunk
            if time.monotonic() > end:
                raise BrokenOff(f"{url}: not whole after {max_s:g} s")
        if answer.length_remaining:
            raise BrokenOff(f"{url}: broke off after {length} bytes")
        answer.release_conn()
    except (HTTPError, OSError) as error:
        raise BrokenOff(f"{url}: broke off after {length} bytes: {type(error).__name__}") from None
    finally:
        # Without effect on a connection that was given back.
        answer.close()
