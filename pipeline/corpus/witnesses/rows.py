"""Rows of witnesses, made of programs with what they print."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.own_tests.rules import WitnessRules
from pipeline.corpus.witnesses.candidates import text_of
from pipeline.corpus.witnesses.distinctive import LONGEST_OUTPUT
from pipeline.corpus.witnesses.scripts import OUTPUT, Line
from pipeline.lake.ids import content_id
from pipeline.lake.rows import OwnTestRow, SnippetCheck, WitnessRow

ADDRESS = re.compile(r"\bat 0x|\bid=\d{6}| @ \d{9}|/tmp\b")
"""Parts of an output that differ in each run."""


def fits(lines: Sequence[Line], rules: WitnessRules) -> bool:
    """Say whether a program is as short as the rules want."""
    physical = text_of(lines).split("\n")
    return len(physical) <= rules.max_lines and max(map(len, physical)) <= rules.max_columns


@dataclass(frozen=True, slots=True)
class ProgramForm:
    """A program of a witness: outputs, API, its test if it has one, the release of that.

    `elsewhere` is how it comes out in the other release, `place` the statement at which it fails there, if it does.
    """

    code: str
    checks: list[SnippetCheck]
    path: str
    test: OwnTestRow | None
    release: str
    elsewhere: Outcome
    place: int | None

    @classmethod
    def of(
        cls,
        lines: Sequence[Line],
        printed: Sequence[str],
        path: str,
        test: OwnTestRow | None,
        release: str,
        elsewhere: Outcome,
        place: int | None,
    ) -> ProgramForm:
        """Return the form that a script is, with what its lines printed at home."""
        return cls(_commented(lines, printed), _checks(lines, printed), path, test, release, elsewhere, place)


def witness_row(
    library: str,
    change_id: str | None,
    versions: tuple[str, str],
    old: ProgramForm | None,
    new: ProgramForm | None,
    *,
    distinctive: bool = True,
) -> WitnessRow:
    """Return the row of a program that shows a change, or of two that do the same on either side of it."""
    old_version, new_version = versions
    latest = new or old
    assert latest is not None
    codes = [form.code if form else "" for form in (old, new)]
    tests = [form.test if form else None for form in (old, new)]
    source = SnippetSource.OWN_TEST if latest.test else SnippetSource.CHANGE
    ids = [
        content_id(library, version, source, form.code) if form else None
        for version, form in ((old_version, old), (new_version, new))
    ]
    return {
        "id": content_id("witness", library, old_version, new_version, *codes),
        "library": library,
        "old_version": old_version,
        "new_version": new_version,
        "source": source,
        "test_id": next((test["test_id"] for test in tests if test), None),
        "test": latest.test["test"] if latest.test else None,
        "old_snippet_id": ids[0],
        "new_snippet_id": ids[1],
        "change_id": change_id,
        "distinctive": distinctive,
        "old_path": old.path if old else None,
        "new_path": new.path if new else None,
        "old_code": old.code if old else None,
        "new_code": new.code if new else None,
        "old_checks": old.checks if old else [],
        "new_checks": new.checks if new else [],
        "new_in_old": new.elsewhere if new else None,
        "old_fails_at": old.place if old else None,
        "new_fails_at": new.place if new else None,
        "similarity": round(difflib.SequenceMatcher(None, codes[0], codes[1], autojunk=False).ratio(), 4)
        if old and new
        else None,
        "old_test_version": old.release if old else None,
        "new_test_version": new.release if new else None,
        "old_file": tests[0]["file"] if tests[0] else None,
        "old_line": tests[0]["line"] if tests[0] else None,
        "new_file": tests[1]["file"] if tests[1] else None,
        "new_line": tests[1]["line"] if tests[1] else None,
    }


def _commented(lines: Sequence[Line], printed: Sequence[str]) -> str:
    """Return a program in which comments say what is printed, as the test's assertions did."""
    texts = [text.rstrip("\n") for text in printed]
    short = [bool(text) and "\n" not in text and len(text) <= LONGEST_OUTPUT for text in texts]
    return text_of(
        replace(line, text=f"{line.text}{OUTPUT}{text}") if fits and "\n" not in line.text else line
        for line, text, fits in zip(lines, texts, short, strict=True)
    )


def _checks(lines: Sequence[Line], printed: Sequence[str]) -> list[SnippetCheck]:
    return [
        {"statement": f"{line.text}\n", "expected": text or None, "options": []}
        for line, text in zip(lines, printed, strict=True)
    ]
