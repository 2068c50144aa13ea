"""Megabytes per second of CPU of the reader of Stack Overflow's dump, and its memory, beside `xml.etree.iterparse`.

    python -m benchmarks.dump --megabytes 500 --json dump.json

A dump is made first, the same each time: rows as the official one has them, of 2.2 KB in the mean, three answers to
four questions, tags about as often as on the site, so that every eighth question is about one of the libraries, and a
version named in every tenth post. Ours keeps what names a version of one of 29 libraries; iterparse only walks over the
rows and forgets them. Each way runs in a process of its own, on one core, over a quarter of the dump and over all of
it, in turns.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import time
from collections.abc import Callable
from html import escape
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table

from pipeline.core.rules.load import RULES
from pipeline.corpus.stack_overflow.dump import read_dump
from pipeline.corpus.stack_overflow.mentions import MentionReader, stack_overflow_rules
from pipeline.corpus.stack_overflow.rules import StackOverflowRules
from pipeline.corpus.stack_overflow.store import open_store

LIBRARIES = (
    "attrs", "click", "django", "flask", "jinja2", "matplotlib", "networkx", "numpy", "pandas", "pillow", "pydantic",
    "pyyaml", "requests", "scikit-learn", "scipy", "torch",
)  # fmt: skip
TAGS = {
    "javascript": 106, "python": 92, "java": 80, "c#": 68, "php": 61, "android": 59, "html": 50, "jquery": 43,
    "c++": 34, "css": 34, "ios": 29, "sql": 28, "mysql": 28, "r": 21, "reactjs": 20, "node.js": 20, "arrays": 17,
    "c": 17, "asp.net": 16, "json": 15, "ruby-on-rails": 14, ".net": 14, "sql-server": 14, "swift": 14, "django": 13,
    "angular": 13, "objective-c": 12, "pandas": 12, "excel": 12, "angularjs": 11, "regex": 11, "linux": 9, "spring": 9,
    "spring-boot": 6, "numpy": 5, "vue.js": 5, "hibernate": 4, "matplotlib": 3, "d3.js": 2, "scikit-learn": 1,
    "any-other": 1755,
}  # fmt: skip
"""Tags, and of how many of a thousand questions with three tags each; the last stands for all that are not listed."""

WORDS = re.findall(
    r"\S+",
    "I am trying to get the value of a column but it returns an error when the list is empty and I do not know why this"
    " happens after the update of my project on the server because the same code works in another file so is there a"
    " way to make it load before the page shows what I expect or should it be done with a loop over all items in 1.5"
    " seconds for 20 rows since the function takes 3 arguments",
)
CODE = (
    (
        "for (var i = 0; i < items.length; i++) { result.push(items[i].value * 2.5); }",
        "$('#a').on('click', function (e) { e.preventDefault(); });", "var result = items.filter(x => x.id > 3);",
        "console.log('value: ' + result.length);", "function f(x, y) { return x && y; }",
    ),
    (
        "import numpy as np", "df = pd.read_csv('data.csv', sep=';')", "print(df.groupby('a')['b'].mean())",
        "def f(x, y=1.0): return x & y", "a = np.zeros((3, 4)) + 0.5", "plt.plot(df['a'], label=\"a\")",
    ),
    (
        "public static void main(String[] args) { run(1.5f); }", "List<String> names = new ArrayList<>();",
        'System.out.println("value: " + x);', "for (int i = 0; i < 10; i++) { names.add(get(i)); }",
    ),
    (
        "SELECT a.id, b.name FROM a JOIN b ON a.id = b.a_id WHERE a.x > 10;",
        "<div class=\"container\"><span>text</span></div>",
    ),
)  # fmt: skip
MENTIONS = (
    "I use pandas 1.3.5 here.",
    "Since numpy 1.20 it is gone.",
    "With jQuery 3.5.1 it works.",
    "As of 2.0 it warns.",
)
MENTIONING = 0.1
"""The share of posts in which one of these stands."""
NAMES = "It happens with pandas, numpy, matplotlib, django, react, angular, spring boot, hibernate and jQuery."
NAMING = 0.5
"""The share of posts that name the library, without a version: here all of them at once."""

TIME = "2022-05-03T10:11:12.123"
LAST = {"CommentCount": 0, "ContentLicense": "CC BY-SA 4.0"}
NEWLINE = "\n"

Readers = dict[str, MentionReader]


def make_dump(path: Path, megabytes: float) -> None:
    """Write a Posts.xml of at least so many megabytes (10^6 bytes)."""
    drawn = random.Random(5)  # noqa: S311 - the same dump each time is what is wanted
    bodies = [body(drawn) for _ in range(4000)]
    questions = [0]
    with path.open("w", encoding="utf-8", newline="") as file:
        written = file.write('\ufeff<?xml version="1.0" encoding="utf-8"?>\r\n<posts>\r\n')
        while written < megabytes * 1_000_000:
            number = questions[-1] + drawn.randint(1, 3)
            written += file.write(question_row(drawn, number, drawn.choice(bodies)))
            questions = [*questions[-1000:], number]
            if drawn.random() < 0.75:
                written += file.write(answer_row(drawn, number + 1, drawn.choice(questions[1:]), drawn.choice(bodies)))
                questions[-1] += 1
        file.write("</posts>")


def body(drawn: random.Random) -> str:
    """Return a text of paragraphs and code, of which some name a version."""
    parts = []
    for _ in range(drawn.randint(1, 4)):
        parts.append(f"<p>{' '.join(drawn.choices(WORDS, k=drawn.randint(20, 90)))}</p>\n")
        if drawn.random() < 0.75:
            lines = "\n".join(drawn.choices(drawn.choice(CODE), k=drawn.randint(2, 14)))
            parts.append(f"<pre><code>{escape(lines, quote=False)}\n</code></pre>\n")
    if drawn.random() < MENTIONING:
        parts.insert(drawn.randrange(len(parts)), f"<p>{drawn.choice(MENTIONS)}</p>\n")
    if drawn.random() < NAMING:
        parts.append(f"<p>{NAMES}</p>\n")
    return "\n".join(parts)


def question_row(drawn: random.Random, number: int, text: str) -> str:
    """Return the row of a question."""
    tags = "".join(f"<{tag}>" for tag in dict.fromkeys(drawn.choices(list(TAGS), list(TAGS.values()), k=3)))
    title = " ".join(drawn.choices(WORDS, k=9))
    more = {"ViewCount": 12, "Body": text, "OwnerUserId": number // 3 + 1, "LastActivityDate": TIME, "Title": title}
    return row({"Id": number, "PostTypeId": 1, "CreationDate": TIME, "Score": 1} | more | {"Tags": tags} | LAST)


def answer_row(drawn: random.Random, number: int, question: int, text: str) -> str:
    """Return the row of an answer."""
    head = {"Id": number, "PostTypeId": 2, "ParentId": question, "CreationDate": TIME, "Score": drawn.randint(-1, 9)}
    return row(head | {"Body": text, "OwnerUserId": number // 3 + 1, "LastActivityDate": TIME} | LAST)


def row(attributes: dict[str, Any]) -> str:
    """Return a row as the dump writes it."""
    written = (f'{name}="{escape(str(v)).replace(NEWLINE, "&#xA;")}"' for name, v in attributes.items())
    return f"  <row {' '.join(written)} />\r\n"


def with_iterparse(dump: Path, *_: object) -> int:
    """Walk over all rows, and return how many there are."""
    rows = 0
    walk = ElementTree.iterparse(dump, events=("start", "end"))  # noqa: S314 - we made it
    root = next(walk)[1]
    for event, element in walk:
        if event == "end" and element.tag == "row":
            rows += 1
            root.clear()
    return rows


def with_ours(dump: Path, cache: Path, rules: StackOverflowRules, readers: Readers) -> int:
    """Read the dump for all libraries, and return in how many questions or their answers a version is named."""
    with open_store(read_dump(dump, readers, rules, cache)) as store:
        return sum(len(store.questions(library)) for library in readers)


WAYS: dict[str, Callable[[Path, Path, StackOverflowRules, Readers], int]] = {
    "ours": with_ours,
    "iterparse": with_iterparse,
}


def run(way: str, dump: Path, results: Connection) -> None:
    """Read a dump in this process, and send seconds of CPU, the count, the peak of memory and its rise in MB."""
    rules = stack_overflow_rules(RULES)
    readers = {name: MentionReader(rules, name) for name in sorted({*LIBRARIES, *rules.foreign})}
    before = peak_mb()
    with TemporaryDirectory(dir=dump.parent) as cache:
        started = time.process_time()
        count = WAYS[way](dump, Path(cache), rules, readers)
        results.send((time.process_time() - started, count, peak_mb(), peak_mb() - before))


def peak_mb() -> float:
    """Return the most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measured(way: str, dump: Path) -> dict[str, float]:
    """Read a dump in a process of its own."""
    ours, theirs = (context := get_context("spawn")).Pipe()
    process = context.Process(target=run, args=(way, dump, theirs))
    process.start()
    seconds, count, peak, rise = ours.recv()
    process.join()
    return {"mb_per_s": dump.stat().st_size / 1e6 / seconds, "count": count, "peak_mb": peak, "rise_mb": rise}


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the dump is made; default: a temporary folder")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {}
    with TemporaryDirectory(dir=arguments.folder) as folder:
        for megabytes in (arguments.megabytes // 4, arguments.megabytes):
            dump = Path(folder, "Posts.xml")
            make_dump(dump, megabytes)
            for _ in range(arguments.rounds):
                for way in WAYS:
                    found.setdefault(f"{way}, {megabytes} MB", []).append(measured(way, dump))
    table = Table("reader", "MB/s, median", "MB/s, best", "peak memory, MB", "of it for reading, MB", "count")
    for name, rounds in found.items():
        speeds = [each["mb_per_s"] for each in rounds]
        told = [f"{max(each[what] for each in rounds):.0f}" for what in ("peak_mb", "rise_mb", "count")]
        table.add_row(name, f"{median(speeds):.0f}", f"{max(speeds):.0f}", *told)
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
