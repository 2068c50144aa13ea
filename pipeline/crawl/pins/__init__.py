"""What the files of a project say about the versions of the libraries that it uses."""

from pipeline.crawl.pins.matrix import Narrow, Published, published_of
from pipeline.crawl.pins.read import is_pin_file, read_pins
from pipeline.crawl.pins.rules import PinRules, pin_rules
from pipeline.crawl.pins.stated import PYTHON, Pins, Stated, StatementKind
from pipeline.crawl.pins.version import KnownVersion, version_of

__all__ = [
    "PYTHON",
    "KnownVersion",
    "Narrow",
    "PinRules",
    "Pins",
    "Published",
    "Stated",
    "StatementKind",
    "is_pin_file",
    "pin_rules",
    "published_of",
    "read_pins",
    "version_of",
]
