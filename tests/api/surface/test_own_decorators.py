"""A decorator deprecates what it decorates if the function that it returns warns whenever it is called."""

from collections.abc import Mapping

import pytest

from pipeline.api.surface.parse_cache import Records
from pipeline.api.surface.reader import SurfaceReader
from tests.api.surface.trees import READING_RULES, rows, tree

WARNS = "        warnings.warn({message}, DeprecationWarning)\n        return func(*args)\n"
OLD = "import warnings\ndef fading(func):\n    def inner(*args):\n" + WARNS + "    return inner\n"
USED = "@fading\ndef f(x): ...\nclass C:\n    @fading\n    def m(self): ...\n    @property\n    @fading\n    def p(self): ...\n"


def marks(files: Mapping[str, str] | str) -> dict[str, str | None]:
    return {path: row["deprecation"]["message"] for path, row in rows(files).items() if row["deprecation"]}


def test_what_it_decorates_has_the_mark():
    found = rows(OLD.format(message="'use g instead'") + USED)
    assert marks(OLD.format(message="'use g instead'") + USED) == dict.fromkeys(
        ("pkg.f", "pkg.C.m", "pkg.C.p"), "use g instead"
    )
    assert found["pkg.f"]["deprecation"] == {
        "channel": "decorator",
        "since": None,
        "removal": None,
        "message": "use g instead",
        "replacement": "g",
    }


def test_it_may_stand_in_another_module_and_be_called_first():
    factory = (
        "import warnings\ndef fading(since):\n    def decorate(func):\n        def inner(*args):\n"
        "            warnings.warn('it goes', FutureWarning if since else DeprecationWarning)\n"
        "            return func(*args)\n        return inner\n    return decorate\n"
    ).replace("FutureWarning if since else DeprecationWarning", "DeprecationWarning")
    source = "from ._util import fading\n@fading('2.0')\ndef f(x): ...\n"
    assert marks({"pkg/__init__.py": source, "pkg/_util.py": factory}) == {"pkg.f": "it goes"}


def test_a_message_with_pieces_of_what_is_decorated_is_left_out():
    assert marks(OLD.format(message="f'{func.__name__} goes'") + USED)["pkg.f"] is None


@pytest.mark.parametrize(
    "body",
    [
        "    def inner(*args):\n        if len(args) > 1:\n            warnings.warn('order', DeprecationWarning)\n"
        "        return func(*args)\n    return inner\n",
        "    def inner(*args):\n        warnings.warn('slow', RuntimeWarning)\n        return func(*args)\n    return inner\n",
        "    def unused():\n        warnings.warn('x', DeprecationWarning)\n    return func\n",
    ],
    ids=["of one way of calling", "of something else", "in what is not returned"],
)
def test_other_warnings_mark_nothing(body):
    assert marks(f"import warnings\ndef fading(func):\n{body}{USED}") == {}


def test_a_decorator_that_begins_to_warn_marks_what_another_file_decorates():
    used = "from ._util import fading\nclass C:\n    @fading\n    def m(self): ...\n"
    releases = [
        tree({"pkg/__init__.py": used, "pkg/_util.py": util})
        for util in ("def fading(func): return func\n", OLD.format(message="'it goes'"))
    ]
    contents = {sha: content for _, files in releases for sha, content in files.items()}
    reader = SurfaceReader(Records(None, READING_RULES, lambda wanted: {sha: contents[sha] for sha in wanted}))
    before, after = (reader.read(sources).symbols["pkg.C.m"]["deprecation"] for sources, _ in releases)
    assert (before, after and after["message"]) == (None, "it goes")
