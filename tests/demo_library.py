"""A small library with a history: what came, went and changed in it is known, release by release."""

from __future__ import annotations

from collections.abc import Collection

from tests.index_server import Index

HEAD = '"""Demo."""\n\n__all__ = [{names}]\n'

GREET = '''

def greet(name, punctuation="!"):
    """Return a friendly line for somebody.

    >>> greet("Ada")
    'Hello Ada!'
    """
    return f"Hello {name}{punctuation}"
'''

GREET_WITH_MARK = '''

def greet(name, punctuation_mark="!"):
    """Return a friendly line for somebody.

    >>> greet("Ada", punctuation_mark="?")
    'Hello Ada?'
    """
    return f"Hello {name}{punctuation_mark}"
'''

MAKE_LOUD = '''

def make_loud(text):
    """Turn a text into capital letters for festive occasions.

    >>> make_loud("hey")
    'HEY'
    """
    return text.upper()
'''

MAKE_LOUDER = MAKE_LOUD.replace("make_loud", "make_louder")

TOTAL = '''

def total(numbers):
    """Add numbers up and give back one integer.

    >>> values = [1, 2, 3]
    >>> total(values)
    6
    """
    return sum(numbers)
'''

# Another sentence, so that not each of them answers the same prompt.
SUMMED = TOTAL.replace("total", "summed").replace("one integer", "a single integer")


def deprecated(function: str, name: str, instead: str) -> str:
    warning = f'warnings.warn("{name} is deprecated, use {instead} instead", DeprecationWarning)'
    return "\n\nimport warnings" + function.replace("    return", f"    {warning}\n    return")


WRONG = '''

def wrong(number):
    """Double a number, or so its author believes.

    >>> wrong(2)
    5
    """
    return number * 2
'''


def source(*parts: str, names: str) -> dict[str, str]:
    quoted = ", ".join(f'"{name}"' for name in names.split())
    return {"demo/__init__.py": HEAD.format(names=quoted) + "".join(parts)}


OLD_LOUD = deprecated(MAKE_LOUD, "make_loud", "make_louder")
OLD_TOTAL = deprecated(TOTAL, "total", "summed")

RELEASES = {
    "1.0": ("2021-01-01T00:00:00Z", source(GREET, MAKE_LOUD, WRONG, names="greet make_loud wrong")),
    "1.1": ("2021-02-01T00:00:00Z", source(GREET, OLD_LOUD, WRONG, TOTAL, names="greet make_loud wrong total")),
    "1.2": (
        "2021-03-01T00:00:00Z",
        source(GREET, MAKE_LOUDER, WRONG, OLD_TOTAL, SUMMED, names="greet make_louder wrong total summed"),
    ),
    "2.0": ("2021-04-01T00:00:00Z", source(GREET_WITH_MARK, MAKE_LOUDER, SUMMED, names="greet make_louder summed")),
}


def publish_demo(index: Index, library: str = "demo", releases: Collection[str] = tuple(RELEASES)) -> None:
    """Put releases of the demo library on an index, with some that are not to be taken."""
    for version, (uploaded, files) in RELEASES.items():
        if version in releases:
            index.add_wheel(library, version, files, uploaded, requires_python=">=3.6")
    index.add_wheel(library, "2.1rc1", RELEASES["2.0"][1], "2021-05-01T00:00:00Z")
    index.add_wheel(library, "2.1", RELEASES["2.0"][1], "2021-05-02T00:00:00Z", yanked=True)
    index.add(library, "2.2", None, "")
