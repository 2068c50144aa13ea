"""Tests with another program in the next release: the old form fails there, and the new one does the same."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.rules import WitnessRules
from pipeline.corpus.usages.api import Api
from pipeline.corpus.witnesses.candidates import Candidate, Catalogue, Cause, Failure, candidates, text_of
from pipeline.corpus.witnesses.changed_uses import sides_of
from pipeline.corpus.witnesses.rows import ADDRESS, ProgramForm, fits, witness_row
from pipeline.corpus.witnesses.script_runs import (
    ScriptRuns,
    described,
    failing_place,
    outcome_of,
    outputs,
    reason_at_home,
)
from pipeline.corpus.witnesses.scripts import Line, loose_script_of
from pipeline.execution.validation.cases import Result
from pipeline.lake.ids import content_id
from pipeline.lake.intervals import chains
from pipeline.lake.rows import ChangeRow, OwnTestRow, ReleaseRow, WitnessRow
from pipeline.lake.stage import Reject


@dataclass(frozen=True, slots=True)
class Forms:
    """A test whose program differs between two releases, with the assertions that may show why."""

    old: OwnTestRow
    new: OwnTestRow
    candidates: tuple[Candidate, ...]

    @property
    def key(self) -> str:
        """Its name in rejects."""
        case = f"[{self.old['case']}]" if self.old["case"] else ""
        return f"{self.new['test']}{case} {self.old['last_version']} {self.new['version']}"

    @property
    def versions(self) -> tuple[str, str]:
        """The last release that has the old form, and the first that has the new one."""
        return self.old["last_version"], self.new["version"]


def changed_forms(
    releases: Sequence[ReleaseRow], own_tests: Iterable[OwnTestRow]
) -> Iterator[tuple[OwnTestRow, OwnTestRow]]:
    """Yield the two programs of each test that are neighbours in a run of releases and not the same."""
    chain_of = {version: number for number, chain in enumerate(chains(releases)) for version in chain}
    by_test: dict[tuple[str, int], list[OwnTestRow]] = defaultdict(list)
    for row in own_tests:
        if row["version"] in chain_of:
            by_test[row["test_id"], chain_of[row["version"]]].append(row)
    for key in sorted(by_test):
        rows = sorted(by_test[key], key=lambda row: Version(row["version"]))
        yield from itertools.pairwise(rows)


def forms_of(old: OwnTestRow, new: OwnTestRow, rules: WitnessRules) -> Forms | Reject:
    """Return the assertions of a test that may show why its program differs between two releases, or why none does."""
    without = Forms(old, new, ())
    try:
        scripts, unbound = zip(*(loose_script_of(form) for form in (old, new)), strict=True)
    except Refused as refused:
        return Reject(without.key, refused.reason, str(refused))
    if not all(any(line.expectation is not None for line in script) for script in scripts):
        return Reject(without.key, RejectReason.NO_CHECK, "nothing in it can be printed and compared")
    forms = [
        candidate
        for candidate in candidates(*scripts)
        if not any(
            line.needs & names
            for lines, names in zip((candidate.old, candidate.new), unbound, strict=True)
            for line in lines
        )
    ][: rules.candidates]
    fitting = tuple(each for each in forms if fits(each.old, rules) and fits(each.new, rules))
    if not forms:
        return Reject(
            without.key,
            RejectReason.SAME_CODE,
            "no assertion that both make, of the same values, depends on lines that differ",
        )
    if not fitting:
        return Reject(
            without.key, RejectReason.TOO_LONG, f"over {rules.max_lines} lines or {rules.max_columns} columns"
        )
    return Forms(old, new, fitting)


def within_quota(
    forms: Sequence[Forms], changes: Iterable[ChangeRow], rules: WitnessRules
) -> tuple[list[Forms], list[Reject]]:
    """Keep the tests that use an API that changed between their releases, so many of a release."""
    changed: dict[str, set[str]] = defaultdict(set)
    for change in changes:
        if sides_of(change):
            changed[change["new_version"]] |= {change["path"], change["canonical_path"], change["new"] or ""}

    def touches(each: Forms) -> bool:
        uses = {*each.old["apis"], *each.new["apis"]}
        parents = {parent for path in uses for parent in itertools.accumulate(path.split("."), "{}.{}".format)}
        return not changed[each.versions[1]].isdisjoint(parents)

    counts: Counter[str] = Counter()
    accepted: list[Forms] = []
    rejects: list[Reject] = []
    for each in sorted(forms, key=lambda each: content_id(each.key)):
        version = each.versions[1]
        if not touches(each):
            detail = f"it uses no API that the catalogue says to have changed in {version}"
            rejects.append(Reject(each.key, RejectReason.UNCHANGED, detail))
        elif counts[version] >= rules.per_release:
            detail = f"the rule takes {rules.per_release} tests of a release"
            rejects.append(Reject(each.key, RejectReason.OVER_QUOTA, detail))
        else:
            counts[version] += 1
            accepted.append(each)
    return accepted, rejects


def _same_outputs(
    candidate: Candidate, versions: tuple[str, str], runs: ScriptRuns
) -> tuple[list[str], list[str]] | None:
    """Return what the forms print at home, by line, where both pass and print the same."""
    old, new = (
        outputs(lines, runs.results.get((text_of(lines), version)))
        for lines, version in zip((candidate.old, candidate.new), versions, strict=True)
    )
    return (old, new) if old is not None and new is not None and "".join(old) == "".join(new) else None


def run_forms(forms: Iterable[Forms], runs: ScriptRuns) -> None:
    """Run both forms of tests at home, and those that print the same in the other release too."""
    for beside in (False, True):
        scripts: dict[str, dict[str, Sequence[Line]]] = defaultdict(dict)
        for each in forms:
            for candidate in each.candidates:
                if not beside or _same_outputs(candidate, each.versions, runs):
                    for lines, version in zip(
                        (candidate.old, candidate.new), each.versions[:: -1 if beside else 1], strict=True
                    ):
                        scripts[version][text_of(lines)] = lines
        runs.run(scripts)


def witness_of(
    forms: Forms,
    runs: Mapping[tuple[str, str], Result],
    catalogue: Catalogue,
    apis: Mapping[str, Api],
    rules: WitnessRules,
) -> WitnessRow | Reject:
    """Return the smallest candidate that shows a change, or why the one that got furthest does not."""
    old_version, new_version = forms.versions
    reached: list[tuple[int, RejectReason, str]] = []
    for candidate in forms.candidates:
        old, new = text_of(candidate.old), text_of(candidate.new)
        old_runs, new_runs = ([runs.get((text, version)) for version in forms.versions] for text in (old, new))
        before, after = outputs(candidate.old, old_runs[0]), outputs(candidate.new, new_runs[1])
        if before is None or after is None:
            failed = old_runs[0] if before is None else new_runs[1]
            reached.append((0, reason_at_home(failed, rules), f"it fails at home: {described(failed)}"))
            continue
        place = failing_place(candidate.old, before, old_runs[1])
        if "".join(before) != "".join(after) or ADDRESS.search("".join(before)):
            reached.append((1, RejectReason.NO_PARTNER, "the new form does not give what the old one gave"))
        elif place is None:
            reached.append((2, RejectReason.UNCHANGED, f"the old form passes in {new_version} too"))
        else:
            failure = Failure(place, outcome_of(old_runs[1]), (old_runs[1] and old_runs[1].detail) or "")
            cause = catalogue.cause(candidate, apis, old_version, new_version, failure)
            if not isinstance(cause, Cause):
                line = candidate.old[place].text.partition("\n")[0]
                detail = f"{line}: {described(old_runs[1])}; it uses {', '.join(sorted(cause)) or 'no public API'}"
                reached.append((3, RejectReason.UNLISTED_CHANGE, detail))
                continue
            downwards = outputs(candidate.new, new_runs[0]) == after
            outcome = Outcome.PASSED if downwards else outcome_of(new_runs[0])
            return witness_row(
                cause.change["library"],
                cause.change["id"],
                forms.versions,
                ProgramForm.of(
                    candidate.old,
                    before,
                    cause.old_path,
                    forms.old,
                    old_version,
                    failure.outcome,
                    place,
                ),
                ProgramForm.of(
                    candidate.new,
                    after,
                    cause.new_path,
                    forms.new,
                    new_version,
                    outcome,
                    failing_place(candidate.new, after, new_runs[0]),
                ),
            )
    _, reason, detail = max(reached, key=lambda each: each[0])
    return Reject(forms.key, reason, detail)
