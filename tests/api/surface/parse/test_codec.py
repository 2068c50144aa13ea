"""Records as bytes, and what two of one file share."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.api.surface.parse.codec import Unpacker, pack
from pipeline.api.surface.parse.module_model import ModuleRecord
from pipeline.api.surface.parse.sources import SourceFile
from pipeline.api.surface.parse_cache import read_file
from tests.api.surface.trees import READING_RULES

MEMBERS = ["    def m(self): ...\n", "    def m(self, a): ...\n", "    class In:\n        y = 2\n", "    x = 1\n", ""]
CLASSES = st.lists(st.sampled_from(MEMBERS), max_size=3).map(
    lambda members: "class C:\n    'Doc.'\n" + "".join(members)
)
TEXTS = st.lists(st.one_of(CLASSES, st.just("def f(): ...\n"), st.just("x = 1\n")), max_size=3).map("".join)


def read(text: str) -> ModuleRecord:
    return read_file(SourceFile("pkg", "pkg/__init__.py", ""), text.encode(), READING_RULES)


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_what_is_unpacked_is_what_was_packed_whatever_came_before(texts):
    unpacker = Unpacker()
    for text in texts:
        record = read(text)
        found = unpacker.unpack(pack(record))
        assert found == record
        assert list(found.definitions) == list(record.definitions)
        for name, one in record.definitions.items():
            assert list(found.definitions[name].members) == list(one.members)


def test_equal_definitions_of_two_versions_are_the_same_objects():
    unpacker = Unpacker()
    before, after = (
        unpacker.unpack(pack(read(f"def f(): ...\nclass A:\n    def m(self): ...\n    def n({given}): ...\n")))
        for given in ("self", "self, a")
    )
    old, new = before.definitions, after.definitions
    assert new["f"] is old["f"]
    assert new["A"] != old["A"]
    assert new["A"].members["m"] is old["A"].members["m"]
    assert new["A"].members["n"] != old["A"].members["n"]
