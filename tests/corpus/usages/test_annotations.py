from __future__ import annotations

import pytest

from pipeline.corpus.usages.annotations import read_annotation, read_signature
from pipeline.corpus.usages.values import (
    NOTHING,
    UNKNOWN,
    Calling,
    Elements,
    Instance,
    Items,
    Mapping,
    Reference,
    Value,
)

THING, OTHER = Instance("Thing"), Instance("Other")


def find(name: str) -> Value:
    return Instance(name.removeprefix("lib."))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thing", THING),
        ("'Thing'", THING),
        ("lib.Thing", THING),
        ("Thing | None", THING),
        ("None | 'Thing'", THING),
        ("t.Optional[Thing]", THING),
        ("Union[Thing, None]", THING),
        ("Union[Thing, Thing]", THING),
        ("Annotated[Thing, 1]", THING),
        ("Thing[int]", THING),
        ("te.Self", Instance("Self")),
        ("Iterator[Thing]", Elements(THING)),
        ("c.abc.Generator[Thing, None, None]", Elements(THING)),
        ("AbstractContextManager[Thing]", Elements(THING)),
        ("tuple[Thing, ...]", Elements(THING)),
        ("list[list[Thing]]", Elements(Elements(THING))),
        ("dict[str, Thing]", Mapping(THING)),
        ("dict[str, list[Thing]]", Mapping(Elements(THING))),
        ("tuple[Thing, Other]", Items((THING, OTHER))),
        ("tuple[int, Other]", Items((UNKNOWN, OTHER))),
        ("Callable[[], Thing]", Calling(THING)),
        ("Thing | Callable[[F], Thing]", Calling(THING)),
        ("type[Thing]", Reference("Thing")),
        ("None", NOTHING),
        ("Thing | Other", UNKNOWN),
        ("Union[Thing, Other]", UNKNOWN),
        ("list[str]", UNKNOWN),
        ("tuple[str, int]", UNKNOWN),
        ("str", UNKNOWN),
        ("Any", UNKNOWN),
        ("Tuple[()]", UNKNOWN),
        ("not python", UNKNOWN),
        ("", UNKNOWN),
        ("(" * 500, UNKNOWN),
    ],
)
def test_annotations(text: str, expected: Value) -> None:
    assert read_annotation(text, find) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(Thing, int) -> Other", ([THING, UNKNOWN], OTHER)),
        ("() -> None", ([], NOTHING)),
        ("(...) -> Thing", ([UNKNOWN], THING)),
        ("Thing", ([], UNKNOWN)),
    ],
)
def test_type_comments_of_functions(text: str, expected: tuple[list[Value], Value]) -> None:
    assert read_signature(text, find) == expected
