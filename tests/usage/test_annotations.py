from __future__ import annotations

import pytest

from pipeline.usage.annotations import Stated, read_annotation


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thing", Stated("Thing")),
        ("'Thing'", Stated("Thing")),
        ("lib.Thing", Stated("lib.Thing")),
        ("Thing | None", Stated("Thing")),
        ("None | 'Thing'", Stated("Thing")),
        ("t.Optional[Thing]", Stated("Thing")),
        ("Union[Thing, None]", Stated("Thing")),
        ("Annotated[Thing, 1]", Stated("Thing")),
        ("Thing[int]", Stated("Thing")),
        ("te.Self", Stated("Self")),
        ("Iterator[Thing]", Stated("Thing", many=True)),
        ("c.abc.Generator[Thing, None, None]", Stated("Thing", many=True)),
        ("type[Thing]", Stated("Thing", is_class=True)),
        ("Thing | Other", None),
        ("Union[Thing, Other]", None),
        ("list[list[Thing]]", None),
        ("dict[str, Thing]", None),
        ("tuple[Thing, Other]", None),
        ("Callable[[], Thing]", None),
        ("str", None),
        ("Any", None),
        ("None", None),
        ("Tuple[()]", None),
        ("not python", None),
        ("", None),
    ],
)
def test_annotations(text: str, expected: Stated | None) -> None:
    assert read_annotation(text) == expected
