"""A queue of samples as annotators meet them: pandas' own code, its changes and its documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import VersiCodeTag
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.lake.ids import content_id
from pipeline.quality.annotation.entries import Flag, Validation
from pipeline.quality.annotation.filling import Flagged, fill
from pipeline.quality.annotation.store import Store, open_store
from pipeline.quality.annotation.view import Change, Choice, Document, Fact, Link, Pane, RunLog, View
from pipeline.quality.annotation_rules import AnnotationRules

OLD_CODE = """\
import pandas as pd

sales = pd.DataFrame({"city": ["Oslo", "Bergen"], "sold": [3, 5]})
more = pd.DataFrame({"city": ["Tromsø"], "sold": [2]})
everything = sales.append(more, ignore_index=True)
print(len(everything))
"""
NEW_CODE = OLD_CODE.replace(
    "everything = sales.append(more, ignore_index=True)", "everything = pd.concat([sales, more], ignore_index=True)"
)
COMPLETION = """\
import numpy as np
import pandas as pd

frame = pd.DataFrame(np.arange(6).reshape(3, 2), columns=["a", "b"])
scaled = frame.map(lambda value: value * 10)
print(scaled.loc[2, "b"])
"""
PROBLEM = "Put the rows of both tables one below the other, and number them anew from 0."
RUN_LOG = """\
Traceback (most recent call last):
  File "sample.py", line 5, in <module>
    everything = sales.append(more, ignore_index=True)
AttributeError: 'DataFrame' object has no attribute 'append'"""

Say = Callable[[str, str], str]
"""Makes the text of a field, from the field's name and the text that the demo has there."""


def plain(name: str, text: str) -> str:
    """Leave a text as it is."""
    return text


def migration(say: Say = plain) -> View:
    """A migration from `DataFrame.append`, with all that a view can hold."""
    return View(
        title=say("title", "pandas.DataFrame.append"),
        panes=(
            Pane("description", say("label", "Description"), say("description", PROBLEM), "text", editable=True),
            Pane("source_code", "Code", say("source_code", OLD_CODE), "python", "1.5.3", editable=True),
            Pane("target_code", "Code", say("target_code", NEW_CODE), "python", "2.0.0", editable=True),
            Pane("tests", "Tests", say("tests", "assert len(everything) == 3\n"), "python", editable=True),
        ),
        choices=(
            Choice("version", "Version", "1.5.3", ("1.5.2", "1.5.3")),
            Choice("tag", "Tag", VersiCodeTag.DEPRECATION, tuple(VersiCodeTag)),
        ),
        compare=("source_code", "target_code"),
        change=Change(
            kind="removed",
            path=say("change", "pandas.DataFrame.append"),
            parameter=say("parameter", "ignore_index"),
            old=say("old", "append(other, ignore_index=False, verify_integrity=False, sort=False)"),
            new=say("new", "pandas.concat"),
            old_version="1.5.3",
            new_version="2.0.0",
            breaking=True,
            evidence="executed",
            confidence=1.0,
            replacement=say("replacement", "pandas.concat"),
        ),
        facts=(Fact(say("fact_label", "Direction"), say("fact", "upgrade, major to major")),),
        documents=(
            Document("1.5.3", "pandas.DataFrame.append", say("document", _APPEND), None),
            Document("2.0.0", "pandas.concat", say("document", _CONCAT), None),
        ),
        runs=(
            RunLog(say("subject", "the code for 1.5.3"), "1.5.3", "passed", "3.10", None),
            RunLog("the code for 1.5.3", "2.0.0", "api_missing", "3.11", say("detail", RUN_LOG)),
        ),
        links=(
            Link(
                say("link", "pandas 1.5.3, frame.py"),
                "https://github.com/pandas-dev/pandas/blob/v1.5.3/pandas/core/frame.py",
            ),
        ),
    )


_APPEND = """Append rows of `other` to the end of caller, returning a new object.

.. deprecated:: 1.4.0
    Use :func:`concat` instead."""
_CONCAT = """Concatenate pandas objects along a particular axis.

Allows optional set logic along the other axes."""


def completion(say: Say = plain) -> View:
    """A completion in which the name of `DataFrame.map` is masked."""
    start = COMPLETION.index("map(")
    return View(
        title=say("title", "pandas.DataFrame.map"),
        panes=(
            Pane(
                "description",
                "Description",
                say("description", "Multiply each value of a table by ten."),
                "text",
                editable=True,
            ),
            Pane("code", "Code", COMPLETION, "python", "2.1.0", ((start, start + 3),), editable=True),
        ),
        choices=(Choice("version", "Version", "2.1.0", ("2.0.3", "2.1.0")),),
        change=Change(
            "renamed",
            "pandas.DataFrame.applymap",
            None,
            "applymap",
            "pandas.DataFrame.map",
            "2.0.3",
            "2.1.0",
            False,
            "static",
            0.82,
            None,
        ),
        documents=(
            Document(
                "2.1.0",
                "pandas.DataFrame.map",
                "Apply a function to a Dataframe elementwise.\n\n.. versionadded:: 2.1.0",
                None,
            ),
        ),
        runs=(RunLog("the reference", "2.1.0", "passed", "3.11", None),),
    )


@dataclass
class Runs:
    """A validator whose outcome a test decides: what contains `broken` does not pass. It waits where told to."""

    released: Event = field(default_factory=Event)
    seen: list[Mapping[str, str]] = field(default_factory=list)

    def check(self, sample_id: str, after: Mapping[str, str]) -> Validation:
        """Run nothing, and say what a run would say."""
        self.released.wait(20)
        self.seen.append(after)
        passed = not any("broken" in text for text in after.values())
        run = {
            "version": "2.1.0",
            "outcome": "passed" if passed else "failed_assertion",
            "python": "3.11",
            "detail": None if passed else "AssertionError",
        }
        return Validation(passed, None if passed else "in 2.1.0 it ends with: failed assertion", (run,))


def flagged(number: int, view: View, **other: object) -> Flagged:
    """One flagged sample of the queue; `number` makes it another one."""
    fields: dict[str, object] = {
        "id": content_id("demo", number),
        "family": Family.MIGRATION if view.compare else Family.COMPLETION,
        "library": "pandas",
        "version": view.choices[0].value,
        "title": view.title,
        "source": SnippetSource.DOCSTRING,
        "flags": (Flag(FlagKind.RENAME_UNSURE, "applymap to map with confidence 0.82"),),
        "content": content_id("content", number, view.title),
        "view": view,
    }
    return Flagged(**(fields | other))  # type: ignore[arg-type]


def store_at(folder: Path, twice: float = 0.0) -> Store:
    """An empty queue in a folder, with the rules that ship but for the share that is judged twice."""
    rules = load(RULES / "annotation.yaml", AnnotationRules)
    rules = rules.model_copy(update={"twice": rules.twice.model_copy(update={"share": twice})})
    return open_store(f"sqlite:///{folder / 'reviews.sqlite'}", rules)


def fill_demo(store: Store) -> list[str]:
    """Fill a queue with eight completions and four migrations of pandas, and return their ids in its order."""
    result = [flagged(number, completion()) for number in range(8)]
    doubt = (
        Flag(FlagKind.NOT_DISCRIMINATING, "the code for 1.5.3 passes in 2.0.0"),
        Flag(FlagKind.AUDIT, "drawn with share 0.02"),
    )
    result += [flagged(number, migration(), flags=doubt, source=SnippetSource.GITHUB) for number in range(8, 12)]
    fill(store, "pandas", result)
    return [sample.id for sample in result]
