from __future__ import annotations

import io
import time
import tracemalloc
import zlib

import hypothesis.strategies as st
import pytest
import sphobjinv  # type: ignore[import-untyped]
from hypothesis import given

from pipeline.corpus.documentation.inventory import BadInventory, Entry, Head, read_entries, read_head
from tests.corpus.documentation.site_server import inventory
from tests.errors import raises

LIMIT = 1 << 26


def read(content: bytes, limit: int = LIMIT) -> tuple[Head, list[Entry | str]]:
    file = io.BytesIO(content)
    head = read_head(file)
    return head, list(read_entries(file, head, limit))


LINES = [
    ("bag.f py:function 1 api.html#$ -", Entry("bag.f", "py", "function", "api.html", "bag.f", "bag.f")),
    ("bag py:module 0 api.html#module-$ -", Entry("bag", "py", "module", "api.html", "module-bag", "bag")),
    ("a b c std:label -1 x.html#a-b-c A title", Entry("a b c", "std", "label", "x.html", "a-b-c", "A title")),
    ("guide std:doc -1 guide.html The guide", Entry("guide", "std", "doc", "guide.html", "", "The guide")),
    ("bag.old py:class -1 api.html#bag.new -", Entry("bag.old", "py", "class", "api.html", "bag.new", "bag.old")),
    ("bag.f py:function 1  -", Entry("bag.f", "py", "function", "", "", "bag.f")),
    ("nothing like an entry", "nothing like an entry"),
    ("bag.f function 1 api.html#$ -", "bag.f function 1 api.html#$ -"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_lines_of_version_2(line: str, expected: Entry | str) -> None:
    assert read(inventory([line])) == (Head(2, "bag", "1.0"), [expected])


def test_version_1() -> None:
    content = b"# Sphinx inventory version 1\n# Project: bag\n# Version: 0.9\nbag mod api.html\nbag.f function api.html\nodd line\n"
    head, entries = read(content)
    assert head == Head(1, "bag", "0.9")
    assert entries == [
        Entry("bag", "py", "module", "api.html", "module-bag", ""),
        Entry("bag.f", "py", "function", "api.html", "bag.f", ""),
        "odd line",
    ]


BROKEN = [
    (b"", "inventory_no_head"),
    (b"<!DOCTYPE html>\n<html><title>Log in</title>", "inventory_no_head"),
    (b"# Sphinx inventory version 3\n# Project: x\n# Version: 1\n", "inventory_version_unknown"),
    (b"# Sphinx inventory version 2\n<html>\n", "inventory_head_invalid"),
    (b"# Sphinx inventory version 2\n# Project: x\n# Version: 1\n# plain\n", "inventory_not_zlib"),
    (inventory(["bag.f py:function 1 api.html#$ -"])[:-4], "inventory_cut_off"),
    (inventory([])[:-8] + b"\x00garbage!", "inventory_damaged"),
    (inventory(["x" * (1 << 17)]), "inventory_too_large"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "code"), BROKEN)
def test_other_files_are_no_inventories(content: bytes, code: str) -> None:
    with raises(BadInventory, code=code):
        read(content)


def test_entries_before_a_break_hold() -> None:
    lines = [f"bag.f{number} py:function 1 api{number * 7919 % 1000}.html#$ -" for number in range(20_000)]
    file = io.BytesIO(inventory(lines)[:-2000])
    head = read_head(file)
    got: list[Entry | str] = []
    with raises(BadInventory, code="inventory_cut_off"):
        got.extend(read_entries(file, head, LIMIT))
    assert len(got) > 1000
    assert all(isinstance(entry, Entry) for entry in got)


def test_a_bomb_is_refused() -> None:
    head = inventory([]).split(b"zlib.\n")[0] + b"zlib.\n"
    with raises(BadInventory, "1000000", code="inventory_too_large"):
        read(head + zlib.compress(b"a py:function 1 x.html#$ -\n" * 1_000_000), 1_000_000)


def test_100_000_entries_in_constant_memory() -> None:
    content = inventory(f"bag.m{n}.f py:function 1 api/bag.m{n}.html#$ -" for n in range(100_000))
    began = time.process_time()
    assert sum(isinstance(entry, Entry) for entry in read(content)[1]) == 100_000
    assert time.process_time() - began < 5
    tracemalloc.start()
    try:
        file = io.BytesIO(content)
        assert sum(1 for _ in read_entries(file, read_head(file), LIMIT)) == 100_000
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()


WORD = st.text("abcXYZ_.0", min_size=1, max_size=12)
OBJECTS = st.builds(
    sphobjinv.DataObjStr,
    name=WORD,
    domain=st.sampled_from(["py", "std", "c"]),
    role=st.sampled_from(["function", "doc", "label"]),
    priority=st.sampled_from(["1", "0", "-1"]),
    uri=st.one_of(st.just("api.html#$"), st.just("guide.html"), st.builds("{}.html#x".format, WORD)),
    dispname=st.one_of(st.just("-"), st.just("A title, with words")),
)


@given(st.lists(OBJECTS, max_size=8))
def test_inventories_of_sphobjinv_are_read(objects: list[sphobjinv.DataObjStr]) -> None:
    inventory = sphobjinv.Inventory()
    inventory.project, inventory.version = "bag", "1.0"
    inventory.objects.extend(objects)
    _, entries = read(sphobjinv.compress(inventory.data_file()))
    assert entries == [
        Entry(item.name, item.domain, item.role, *_place(item.uri_expanded), item.dispname_expanded) for item in objects
    ]


def _place(uri: str) -> tuple[str, str]:
    page, _, anchor = uri.partition("#")
    return page, anchor


@given(st.binary(max_size=300), st.integers(0, 400))
def test_any_bytes_are_read_or_refused(garbage: bytes, cut: int) -> None:
    for content in (garbage, inventory(["bag.f py:function 1 api.html#$ -"])[:cut] + garbage):
        try:
            _, entries = read(content)
        except BadInventory:
            continue
        assert all(isinstance(entry, Entry | str) for entry in entries)
