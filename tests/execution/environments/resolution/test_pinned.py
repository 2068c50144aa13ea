from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.execution.environments.resolution.pinned import Built, Pin, any_built, read_lock, write_lock

HASH = "0123456789abcdef" * 4
GOOD = f"lib==1.0 \\\n    --hash=sha256:{HASH}\n"
BUILT = f"{GOOD}    # built from source as of 2021-06-01T00:00:00Z with setuptools<58, cython<3\n"

names = st.from_regex(r"[a-z0-9]{1,5}(-[a-z0-9]{1,5}){0,2}", fullmatch=True)
versions = st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}(a[0-9]|\.post[0-9]|\+cpu)?", fullmatch=True)
constraints = st.from_regex(r"[a-z0-9]{1,8}(<|>=|==|~=|!=)[0-9]{1,3}(\.[0-9]{1,2})?(,<[0-9])?", fullmatch=True)
times = st.datetimes(datetime(2010, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
ways = st.builds(Built, times.map(lambda time: time.replace(microsecond=0)), st.lists(constraints).map(tuple))
hashes = st.lists(st.from_regex(r"[0-9a-f]{64}", fullmatch=True), min_size=1, max_size=3).map(tuple)


@settings(max_examples=50)
@given(st.lists(st.builds(Pin, names, versions, hashes, st.none() | ways), max_size=4))
def test_what_is_written_is_read(pins: list[Pin]) -> None:
    text = write_lock(pins)
    assert read_lock(text) == pins
    assert any_built(text) == any(pin.built for pin in pins)


def test_a_lock_says_what_is_built() -> None:
    (pin,) = read_lock(BUILT)
    assert pin.requirement == "lib==1.0"
    assert pin.built == Built(datetime(2021, 6, 1, tzinfo=UTC), ("setuptools<58", "cython<3"))
    assert write_lock([pin]) == BUILT
    assert not any_built(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        "lib==1.0\n",
        "lib==1.0 \\\n",
        f"lib==1.0 \\\n    --hash=sha256:{HASH} \\\n",
        f"lib>=1.0 \\\n    --hash=sha256:{HASH}\n",
        f"lib @ https://example.org/lib.whl \\\n    --hash=sha256:{HASH}\n",
        f"lib==1.0 \\\n    --hash=md5:{HASH}\n",
        f"{GOOD}-r other.txt\n",
        f"{GOOD}--index-url https://example.org/simple\n",
        f"{GOOD}    # built from source as of 2021-06-01T00:00:00Z with setuptools<58 --index-url x\n",
        f"{GOOD}    # built from source as of yesterdayZ\n",
        "    # built from source as of 2021-06-01T00:00:00Z\n",
        "-e .\n",
        "../lib==1.0 \\\n",
    ],
)
def test_nothing_else_is_a_lock(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - which words it uses is not the point
        read_lock(text)
