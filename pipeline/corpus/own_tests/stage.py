"""The stage `own_tests`: the tests of each release, cut out of its source distribution, as rows of `own_tests`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.own_tests.cutter import CutTest, NotCut, cut
from pipeline.corpus.own_tests.functions import TestFunction, tests_of
from pipeline.corpus.own_tests.lineage import match
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.rules import OwnTestRules
from pipeline.corpus.own_tests.sources import ReleaseSdists
from pipeline.corpus.own_tests.suite import Suite, Unparsed
from pipeline.corpus.snippets.code_sample_rules import Redaction
from pipeline.corpus.snippets.demonstrated_apis import demonstrated_paths
from pipeline.corpus.snippets.redact import redact
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.rules import UsageRules
from pipeline.lake.collector import without_collector
from pipeline.lake.guard import attempt
from pipeline.lake.ids import content_id
from pipeline.lake.intervals import chains, encode, holding_at
from pipeline.lake.rows import OwnTestRow, ReleaseRow, Tables
from pipeline.lake.stage import Output, Reject

_STATE = ("preamble", "code", "reason", "detail")


class _State(TypedDict):
    """A case of a test in one release: its program, or why it is none."""

    key: str
    lineage: str
    reason: RejectReason | None
    detail: str
    test: str
    case: str
    preamble: str
    code: str
    file: str
    line: int


class _Lasting(_State):
    """One over the run of releases in which it stays the same."""

    first_version: str
    last_version: str


def own_tests_stage(
    tables: Tables,
    sdists: ReleaseSdists,
    rules: OwnTestRules,
    usage: UsageRules,
    redactions: Sequence[Redaction],
) -> Output:
    """Cut the tests out of the source distributions of a library's releases.

    The unit is a case of a test over the run of consecutive releases in which its program, or what is in its way, stays
    the same: it becomes a row or a reject. A release without a suite that can be read, and a file of a suite that does
    not parse, are notes. Unless the rules enable it nothing is read.
    """
    if not rules.enabled:
        return Output({"own_tests": []}, 0, 0)
    releases = tables["releases"]
    states: dict[str, dict[str, _State]] = {}
    notes: list[Reject] = []
    reader = _Reader(sdists, rules, redactions)
    with without_collector():
        for run in chains(releases):
            reader.begin()
            by_version = {release["version"]: release for release in releases}
            for version in run:
                suite_tests = attempt(version, reader.read, by_version[version])
                if isinstance(suite_tests, Reject):
                    notes.append(suite_tests)
                    continue
                states[version], refused = suite_tests
                notes += refused
        rows: list[OwnTestRow] = []
        rejects: list[Reject] = []
        by_version = {release["version"]: release for release in releases}
        apis: dict[str, Api] = {}
        # A release whose suite cannot be read says nothing about its tests, and ends no row.
        readable = [[version for version in run if version in states] for run in chains(releases)]
        for state in encode(readable, states, lambda row: tuple(row[name] for name in _STATE)):
            version = state["first_version"]
            if state["reason"] is None and version not in apis:
                at = {row["path"]: row for row in holding_at(tables["symbols"], version)}
                apis = {version: Api(at, by_version[version]["import_names"], usage.returns_of(releases[0]["library"]))}
            key = f"{state['key']} {version}"
            outcome = (
                Reject(key, state["reason"], state["detail"])
                if state["reason"] is not None
                else attempt(key, _row, state, by_version[version], apis[version])
            )
            if isinstance(outcome, Reject):
                rejects.append(outcome)
            else:
                rows.append(outcome)
    return Output({"own_tests": rows}, len(rows) + len(rejects), len(rows), rejects, notes)


class _Reader:
    """Reads the suites of consecutive releases, and gives a test the same id in each."""

    def __init__(self, sdists: ReleaseSdists, rules: OwnTestRules, redactions: Sequence[Redaction]) -> None:
        self._sdists = sdists
        self._rules = rules
        self._redactions = redactions
        self.begin()

    def begin(self) -> None:
        """Begin with the first of consecutive releases."""
        self._texts: Mapping[str, str] = {}
        self._ids: Mapping[str, str] = {}

    def read(self, release: ReleaseRow) -> tuple[dict[str, _State], list[Reject]] | Reject:
        """Return the cases of a release by what identifies them in each release, and what could not be read."""
        version = release["version"]
        try:
            suite = self._suite(release)
        except Refused as refused:
            return Reject(version, refused.reason, str(refused))
        tests, notes = _collect(suite, version)
        texts = {test.id: test.home.text(test.function) for test in tests}
        before = match(self._texts, texts, self._rules.similarity)
        self._ids = {test: self._ids.get(before.get(test, ""), test) for test in texts}
        self._texts = texts
        states: dict[str, _State] = {}
        for test in tests:
            for each in self._cases(test, suite):
                case = each.case if isinstance(each, CutTest) else each.id[len(test.id) :]
                state = self._state(each, test)
                states.setdefault(f"{self._ids[test.id]}\n{case}", state)
        return states, notes

    def _suite(self, release: ReleaseRow) -> Suite:
        """Return the suite in the source distribution of a release, or else in its repository. Errors: Refused."""
        file, sdist = self._sdists.read(release["library"], release["version"])
        suite = Suite(sdist.files, release["import_names"], self._rules)
        if suite.test_files:
            return suite
        try:
            tags = self._rules.tags_of(release["library"], release["version"])
            suite = Suite(self._sdists.of_repository(sdist.metadata, tags), release["import_names"], self._rules)
        except Refused as refused:
            detail = f"{file.filename}: no file has a name of tests; {refused}"
            raise Refused(refused.reason, detail) from None
        if not suite.test_files:
            detail = f"neither {file.filename} nor its repository has a file with a name of tests"
            raise Refused(RejectReason.NO_FILES, detail)
        return suite

    def _cases(self, test: TestFunction, suite: Suite) -> Iterator[CutTest | NotCut]:
        cases = attempt(test.id, lambda: list(cut(test, suite)))
        if isinstance(cases, Reject):
            yield NotCut(test.id, cases.reason, cases.detail)
        else:
            yield from cases

    def _state(self, each: CutTest | NotCut, test: TestFunction) -> _State:
        refused: tuple[RejectReason | None, str] = None, ""
        if isinstance(each, NotCut):
            refused = each.reason, each.detail
        else:
            cleaned = redact(each.preamble + each.code, self._redactions, is_python=True)
            if cleaned.count or cleaned.unredacted:
                refused = RejectReason.SECRET, "what looks like a secret stands in it"
        is_cut = isinstance(each, CutTest) and refused[0] is None
        return {
            "key": each.id,
            "lineage": self._ids[test.id],
            "reason": refused[0],
            "detail": refused[1],
            "test": test.id,
            "case": each.case if isinstance(each, CutTest) else "",
            "preamble": each.preamble if isinstance(each, CutTest) and is_cut else "",
            "code": each.code if isinstance(each, CutTest) and is_cut else "",
            "file": test.home.path,
            "line": test.function.lineno,
        }


def _collect(suite: Suite, version: str) -> tuple[list[TestFunction], list[Reject]]:
    """Return the tests of a suite, and the files of it that do not parse."""
    tests: list[TestFunction] = []
    notes: list[Reject] = []
    for path in suite.test_files:
        try:
            tests += tests_of(suite.module(path), suite)
        except Unparsed as error:
            notes.append(Reject(f"{version} {path}", RejectReason.UNPARSED_SOURCE, str(error)))
    return tests, notes


def _row(state: _Lasting, release: ReleaseRow, api: Api) -> OwnTestRow | Reject:
    """Return a row of `own_tests`, or the reject of a test that uses no public API."""
    library, version = release["library"], release["version"]
    paths = demonstrated_paths({"preamble": "", "code": state["preamble"] + state["code"]}, api)
    if not paths:
        return Reject(f"{state['key']} {version}", RejectReason.NO_USE, "it uses no public API of the library")
    return {
        "id": content_id(library, version, state["test"], state["case"], state["preamble"], state["code"]),
        "library": library,
        "version": version,
        "last_version": state["last_version"],
        "test_id": content_id(library, state["lineage"], state["case"]),
        "test": state["test"],
        "case": state["case"],
        "preamble": state["preamble"],
        "code": state["code"],
        "apis": sorted(paths),
        "file": state["file"],
        "line": state["line"],
    }
