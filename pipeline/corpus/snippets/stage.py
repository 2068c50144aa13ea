"""The stage that writes the `snippets` table: from docstrings, and from code of others."""

from __future__ import annotations

import ast
import functools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypedDict

from packaging.version import Version

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language, SnippetSource, SnippetStyle, VersionEvidence
from pipeline.corpus.python_files import PythonFileRules
from pipeline.corpus.snippets.code_samples import CodeSamples
from pipeline.corpus.snippets.demonstrated_apis import demonstrated_paths
from pipeline.corpus.snippets.duplicates import IndexedSnippet, Library
from pipeline.corpus.snippets.extract import extract
from pipeline.corpus.snippets.names import free_names, parse, syntax_error
from pipeline.corpus.snippets.preamble import Importable, preamble_of
from pipeline.corpus.snippets.programs import Example
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.rules import UsageRules
from pipeline.lake.guard import guarded, parted
from pipeline.lake.ids import content_id, sha256_json
from pipeline.lake.intervals import chains, encode, holding_at
from pipeline.lake.rows import AnyRow, DocumentRow, ReleaseRow, SnippetCheck, SnippetRow, Tables, WitnessRow
from pipeline.lake.stage import Output, Reject


class _Example(TypedDict):
    """An example of a docstring in one release."""

    path: str
    canonical_path: str
    number: int
    style: str
    preamble: str
    code: str
    checks: list[SnippetCheck]
    file: str
    line: int


class _Candidate(_Example):
    """An example over the releases in which it stays the same; its `demonstrated` APIs are noted when it is judged."""

    first_version: str
    last_version: str
    demonstrated: frozenset[str]


def snippets_stage(
    tables: Tables,
    rules: SnippetRules,
    files: PythonFileRules,
    licences: Collection[str],
    usage: UsageRules,
) -> Output:
    """Take the examples in the docstrings of a library's public API, and what uses it in code of others.

    Of docstrings the unit is an example over the run of consecutive releases in which its code, stated outputs and
    preamble stay the same: it becomes one snippet or one reject. Of found code it is a piece that uses the library, or
    a whole file or block that is refused. Both sides of a witness are snippets. `files` say which files of others are
    no examples, `licences` are the SPDX identifiers that code of others may have; `usage` finds the same uses here as
    in the stage that writes them down.
    """
    states: dict[str, dict[str, _Example]] = {}
    rejects: list[Reject] = []
    apis: dict[str, Api] = {}
    for release in tables["releases"]:
        version = release["version"]
        at = {row["path"]: row for row in holding_at(tables["symbols"], version)}
        apis[version] = Api(at, release["import_names"], usage.returns_of(release["library"]))
        at_version = functools.partial(_examples_at, release, importable=Importable(apis[version]), rules=rules)
        examples, failed = parted(guarded(holding_at(tables["documents"], version), _document, at_version))
        states[version] = dict(examples)
        rejects += failed
    judge = functools.partial(_judged, apis=apis, rules=rules)
    fitting, refused = parted(guarded(encode(chains(tables["releases"]), states, _state), _key, judge))
    rejects += refused
    single, duplicates = _without_duplicates(fitting)
    library, comparable, unlike = _library(single, rules)
    by_version = {release["version"]: release for release in tables["releases"]}
    snippets = [_row(candidate, by_version[candidate["first_version"]]) for candidate in comparable]
    rejects += [*duplicates, *unlike]
    snippets += of_witnesses(tables.get("witnesses", ()), by_version)
    of_others, refused = parted(CodeSamples(apis, library, rules, files, licences).snippets(tables["code_samples"]))
    snippets += of_others
    rejects += refused
    return Output({"snippets": snippets}, len(snippets) + len(rejects), len(snippets), rejects)


def of_witnesses(witnesses: Iterable[WitnessRow], by_version: Mapping[str, ReleaseRow]) -> list[SnippetRow]:
    """Return the forms of witnesses as snippets of the release in which each was run; its source is where it stands."""
    snippets: dict[str, SnippetRow] = {}
    paths: dict[str, set[str]] = defaultdict(set)
    for row in witnesses:
        forms = [
            (
                *(row["old_snippet_id"], row["old_version"], row["old_path"], row["old_code"]),
                *(row["old_checks"], row["old_test_version"], row["old_file"], row["old_line"]),
            ),
            (
                *(row["new_snippet_id"], row["new_version"], row["new_path"], row["new_code"]),
                *(row["new_checks"], row["new_test_version"], row["new_file"], row["new_line"]),
            ),
        ]
        for key, version, path, code, checks, written, file, line in forms:
            if key is None or path is None or code is None or written is None:
                continue
            # A program that is not distinctive is an example of nothing: other names would be as right in it.
            paths[key] |= {path} if row["distinctive"] else set()
            snippets[key] = {
                "id": key,
                "path": None,
                "style": SnippetStyle.STATEMENTS,
                "preamble": "",
                "code": code,
                "checks": checks,
                "file": file or "",
                "line": line or 1,
                **_of_release(by_version[written]),
                "version": version,
                "version_statement": f"{file} of {written}, run in {version}" if written != version else None,
                "last_version": version,
                "source": row["source"],
                "example_of": sorted(paths[key]),
            }
    return [snippets[key] for key in sorted(snippets)]


def _library(candidates: Sequence[_Candidate], rules: SnippetRules) -> tuple[Library, list[_Candidate], list[Reject]]:
    """Return what the docstrings show already, and the candidates that cannot be compared with anything."""
    library = Library(rules.samples)

    def add(candidate: _Candidate) -> Iterator[_Candidate]:
        place = f"{candidate['path']} in {candidate['first_version']}"
        library.add(IndexedSnippet(candidate["code"], candidate["demonstrated"], place))
        yield candidate

    there, failed = parted(guarded(candidates, _key, add))
    return library, there, failed


def _examples_at(
    release: ReleaseRow, document: DocumentRow, *, importable: Importable, rules: SnippetRules
) -> Iterator[tuple[str, _Example]]:
    """Yield the candidates of a document of one release, each with the key that it keeps from release to release."""
    counts: Counter[str] = Counter()
    path_of = functools.partial(importable.path_of, document=document)
    for number, example in enumerate(_extracted(document["docstring"], rules.max_lines), 1):
        counts[example.code] += 1
        names = [] if "__future__" in example.code else _free_names(example.code)
        yield (
            sha256_json([document["path"], example.code, counts[example.code]]),
            {
                "path": document["path"],
                "canonical_path": document["canonical_path"],
                "number": number,
                "style": example.style,
                "preamble": preamble_of(names, path_of, rules, release["library"]),
                "code": example.code,
                "checks": list(example.checks),
                "file": document["file"],
                "line": document["line"] + example.line,
            },
        )


@functools.lru_cache(8192)
def _extracted(docstring: str, split_over: int) -> tuple[Example, ...]:
    return tuple(extract(docstring, split_over))


@functools.lru_cache(8192)
def _free_names(code: str) -> tuple[str, ...]:
    return tuple(free_names(code))


def _state(example: AnyRow) -> str:
    return sha256_json([example[column] for column in ("style", "preamble", "code", "checks")])


def _judged(candidate: _Candidate, apis: Mapping[str, Api], rules: SnippetRules) -> Iterator[_Candidate | Reject]:
    refusal = _refused(candidate, apis[candidate["first_version"]], rules)
    yield _reject(candidate, *refusal) if refusal else candidate


def _refused(candidate: _Candidate, api: Api, rules: SnippetRules) -> tuple[RejectReason, str] | None:
    """Return why a candidate is no snippet, if it is none; of others note the APIs that they show."""
    code: str = candidate["code"]
    lines = code.count("\n")
    if problem := syntax_error(code):
        return RejectReason.BROKEN_EXAMPLE, problem
    working = [s for s in parse(code) or () if not isinstance(s, ast.Import | ast.ImportFrom)]
    if len(working) < rules.min_statements:
        return RejectReason.TOO_SHORT, f"{len(working)} statements beside imports"
    if lines > rules.max_lines or len(code) > rules.max_characters:
        return RejectReason.TOO_LONG, f"{lines} lines, {len(code)} characters"
    candidate["demonstrated"] = demonstrated_paths(candidate, api)
    if not candidate["demonstrated"]:
        return RejectReason.NO_USE, f"{lines} lines, none of which uses the library"
    return None


def _without_duplicates(candidates: Sequence[_Candidate]) -> tuple[list[_Candidate], list[Reject]]:
    """Keep one of the candidates with the same code in the same release.

    Inherited docstrings and second public paths repeat an example; taken twice it would give the same instance twice.
    """
    unique: list[_Candidate] = []
    rejects: list[Reject] = []
    by_code: Mapping[str, list[_Candidate]] = defaultdict(list)
    for candidate in sorted(candidates, key=_preference):
        same = by_code[candidate["code"]]
        if other := next((row for row in same if _overlap(row, candidate)), None):
            place = f"{other['path']} from {other['first_version']} to {other['last_version']}"
            rejects.append(_reject(candidate, RejectReason.DUPLICATE, f"the same code stands at {place}"))
        else:
            same.append(candidate)
            unique.append(candidate)
    return unique, rejects


def _preference(candidate: _Candidate) -> tuple[int, bool, int, str, int, Version]:
    """Order the places of one example: fewest segments, then the class that defines the member, then the shortest."""
    path: str = candidate["path"]
    elsewhere = path.split(".")[-2:] != candidate["canonical_path"].split(".")[-2:]
    return path.count("."), elsewhere, len(path), path, candidate["number"], Version(candidate["first_version"])


def _overlap(candidate: _Candidate, other: _Candidate) -> bool:
    first = max(Version(candidate["first_version"]), Version(other["first_version"]))
    return first <= min(Version(candidate["last_version"]), Version(other["last_version"]))


def _document(document: DocumentRow) -> str:
    return f"{document['path']} {document['first_version']}"


def _key(candidate: _Candidate) -> str:
    return f"{candidate['path']} {candidate['first_version']} #{candidate['number']}"


def _reject(candidate: _Candidate, reason: RejectReason, detail: str) -> Reject:
    return Reject(_key(candidate), reason, f"{candidate['file']}:{candidate['line']}: {detail}")


class _OfRelease(TypedDict):
    """What the snippets of a release have in common."""

    library: str
    version: str
    licence: str | None
    attribution: str | None
    purl: str | None
    language: str
    version_evidence: str
    version_statement: str | None
    redacted: int
    comments_removed: int
    origin: str
    place: str
    url: str | None
    title: str | None
    score: int | None
    accepted: bool | None
    created_time: datetime


def _of_release(release: ReleaseRow) -> _OfRelease:
    return {
        "library": release["library"],
        "version": release["version"],
        "licence": release["licence"],
        "attribution": release["attribution"],
        "purl": release["purl"],
        "language": Language.PYTHON,
        "version_evidence": VersionEvidence.RELEASE_ARTIFACT,
        "version_statement": None,
        "redacted": 0,
        "comments_removed": 0,
        "origin": f"pypi:{release['library']}",
        "place": release["purl"],
        "url": None,
        "title": None,
        "score": None,
        "accepted": None,
        "created_time": release["release_time"],
    }


def _row(candidate: _Candidate, release: ReleaseRow) -> SnippetRow:
    return {
        "id": content_id(release["library"], release["version"], candidate["path"], candidate["code"]),
        "path": candidate["path"],
        "style": candidate["style"],
        "preamble": candidate["preamble"],
        "code": candidate["code"],
        "checks": candidate["checks"],
        "file": candidate["file"],
        "line": candidate["line"],
        **_of_release(release),
        "last_version": candidate["last_version"],
        "source": SnippetSource.DOCSTRING,
        "example_of": None,
    }
