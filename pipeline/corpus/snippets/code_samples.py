"""Snippets of found code: files are cut, blocks are read, both are cleaned and compared with what is there."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from packaging.version import InvalidVersion, Version

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language, SnippetSource, VersionEvidence
from pipeline.corpus.python_files import PythonFileRules
from pipeline.corpus.snippets.blocks import Blocks, style_of, with_plain_line_ends
from pipeline.corpus.snippets.code_sample_rules import Placeholders
from pipeline.corpus.snippets.comments import without_comments
from pipeline.corpus.snippets.demonstrated_apis import demonstrated_uses
from pipeline.corpus.snippets.dependent_changes import ApiUse, Uses, changed_functions
from pipeline.corpus.snippets.duplicates import IndexedSnippet, Library
from pipeline.corpus.snippets.names import free_names
from pipeline.corpus.snippets.pieces import Piece, pieces_of_file
from pipeline.corpus.snippets.preamble import preamble_of
from pipeline.corpus.snippets.redact import redact
from pipeline.corpus.snippets.refuse import FILES, Refusal, block_problem, read_python, refusal_of, size_problem
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.corpus.usages.api import Api
from pipeline.lake.guard import guarded
from pipeline.lake.ids import content_id
from pipeline.lake.rows import CodeSampleRow, SnippetCheck, SnippetRow
from pipeline.lake.stage import Reject

_EVIDENCE = list(VersionEvidence)


@dataclass(frozen=True, slots=True)
class _Unneeded:
    """A piece of a dependent that is refused since others show the same, unless its other releases use it otherwise."""

    snippet: SnippetRow
    reject: Reject


class CodeSamples:
    """Makes snippets of the rows of `code_samples` of one library.

    `apis` are those of its releases by version, `there` the snippets that are there already, `files` say which files of
    others are no examples, and `licences` are the SPDX identifiers that code may have.
    """

    def __init__(
        self,
        apis: Mapping[str, Api],
        there: Library,
        rules: SnippetRules,
        files: PythonFileRules,
        licences: Collection[str],
    ) -> None:
        self._apis = apis
        self._there = there
        self._rules = rules
        self._files = files
        self._licences = licences
        self._uses: dict[str, Uses] = {}

    def snippets(self, samples: Iterable[CodeSampleRow]) -> Iterator[SnippetRow | Reject]:
        """Yield the snippets of found code, or why a row, or a piece of it, is none.

        Of pieces that are alike, and of examples of one API by one origin, the first is kept: the one whose version
        is known by the strongest evidence, then the newest version, the accepted answer, the most votes, the newest
        code, and the first place. Both forms of a function are kept where releases of a dependent use the library
        differently in it; one that others show already is an example of nothing.
        """
        rows = sorted(samples, key=_preference)
        blocks = Blocks((row for row in rows if row["source"] not in FILES and _is_python(row)), self._rules)
        snippets: dict[str, SnippetRow] = {}
        unneeded: list[_Unneeded] = []
        for result in guarded(rows, lambda row: _place(row, 0), lambda row: self._of_row(self._clean(row), blocks)):
            if isinstance(result, _Unneeded):
                unneeded.append(result)
                continue
            if not isinstance(result, Reject):
                snippets[result["id"]] = result
            yield result
        forms = [*snippets.values(), *(each.snippet for each in unneeded)]
        changed = changed_functions(forms, lambda row: self._uses[row["id"]])
        sides = {row["id"] for pair in changed for row in pair} - snippets.keys()
        for each in unneeded:
            if each.snippet["id"] in sides:
                sides.remove(each.snippet["id"])
                yield each.snippet
            else:
                yield each.reject

    def _clean(self, row: CodeSampleRow) -> CodeSampleRow:
        """Return a row with the words about it without secrets: a requirement may be an address with a password."""
        evidence, title = (
            redact(text, self._rules.samples.redactions, is_python=False).text if text else text
            for text in (row["version_statement"], row["title"])
        )
        return {**row, "version_statement": evidence or "", "title": title}

    def _of_row(self, row: CodeSampleRow, blocks: Blocks) -> Iterator[SnippetRow | _Unneeded | Reject]:
        if refusal := refusal_of(row, self._licences, self._files, self._rules.samples):
            yield _reject(row, 0, refusal)
        elif not _is_python(row):
            yield self._of_other_language(row)
        elif (api := self._apis.get(row["version"])) is None:
            yield _reject(row, 0, (RejectReason.VERSION_NOT_COVERED, f"known from {row['version_statement']}"))
        elif row["source"] in FILES:
            yield from self._of_file(row, api)
        else:
            yield from self._of_block(row, api, blocks)

    def _of_file(self, row: CodeSampleRow, api: Api) -> Iterator[SnippetRow | _Unneeded | Reject]:
        """Cut a file; parts that use nothing are no candidates, and a file without candidates is a reject."""
        text = with_plain_line_ends(row["text"])
        results: list[SnippetRow | _Unneeded | Reject] = []
        if any(root in text for root in api.roots):
            tree = read_python(text)
            if not isinstance(tree, ast.Module):
                yield _reject(row, 0, tree)
                return
            for piece in pieces_of_file(text, tree, api.roots, self._rules.samples):
                result = self._of_part(row, piece, api)
                results += [result] if result is not None else []
        yield from results or [_reject(row, 0, (RejectReason.NO_USE, f"nothing in the file uses {row['library']}"))]

    def _of_part(self, row: CodeSampleRow, piece: Piece, api: Api) -> SnippetRow | _Unneeded | Reject | None:
        """Return the snippet that a part of a file becomes, why it becomes none, or None where it uses nothing."""
        rules = self._rules.samples
        if refusal := size_problem(piece.code, rules):
            return _reject(row, piece.line, refusal)
        placeholders: Placeholders = {}
        texts = piece.preamble, piece.code
        preamble, code = (redact(text, rules.redactions, is_python=True, placeholders=placeholders) for text in texts)
        if unredacted := preamble.unredacted or code.unredacted:
            return _reject(row, piece.line, (RejectReason.SECRET, unredacted))
        clean = replace(piece, preamble=preamble.text, code=code.text)
        return self._of_piece(row, clean, api, preamble.count + code.count)

    def _of_block(self, row: CodeSampleRow, api: Api, blocks: Blocks) -> Iterator[SnippetRow | _Unneeded | Reject]:
        block = blocks.read(row)
        if block.unredacted:
            yield _reject(row, 0, (RejectReason.SECRET, block.unredacted))
            return
        for number, piece in enumerate(block.pieces):
            if refusal := block_problem(piece.code, self._rules) or size_problem(piece.code, self._rules.samples):
                yield _reject(row, piece.line, refusal)
                continue
            whole = replace(piece, preamble=self._preamble_of_block(row, piece, api, blocks))
            result = self._of_piece(row, whole, api, 0 if number else block.redacted)
            nothing = RejectReason.NO_USE, f"nothing in the block uses {row['library']}"
            yield result if result is not None else _reject(row, piece.line, nothing)

    def _preamble_of_block(self, row: CodeSampleRow, piece: Piece, api: Api, blocks: Blocks) -> str:
        """Return what everybody would put in front of a block, then what it needs of the blocks before it.

        Only the library's own name is taken for what it says: a bare name of it may be anything in a post.
        """
        if "__future__" in piece.code:
            return ""
        library = row["library"]
        defined = {*api.roots, *self._rules.conventions, *self._rules.of_library(library)}
        before = blocks.before(row, piece, defined)
        names = free_names(before + piece.code)
        return preamble_of(names, lambda name: name if name in api.roots else None, self._rules, library) + before

    def _of_piece(
        self, row: CodeSampleRow, piece: Piece, api: Api, redacted: int
    ) -> SnippetRow | _Unneeded | Reject | None:
        demonstrated = demonstrated_uses({"preamble": piece.preamble, "code": piece.code}, api)
        uses = frozenset(ApiUse(use.path, use.keywords) for use in demonstrated)
        if not uses:
            return None
        bare, removed = _without_comments(piece, {use.path.rpartition(".")[2].lower() for use in uses})
        return self._snippet_row(row, bare, uses, redacted, removed)

    def _of_other_language(self, row: CodeSampleRow) -> SnippetRow | _Unneeded | Reject:
        """Keep a block in another language whole: there is no surface to find uses in."""
        rules = self._rules.samples
        cleaned = redact(with_plain_line_ends(row["text"]), rules.redactions, is_python=False)
        code = cleaned.text.rstrip() + "\n"
        lines = sum(bool(line.strip()) for line in code.split("\n"))
        if lines < rules.min_lines_of_other_languages:
            return _reject(row, 0, (RejectReason.TOO_SHORT, f"{lines} lines"))
        if refusal := size_problem(code, rules):
            return _reject(row, 0, refusal)
        if cleaned.unredacted:
            return _reject(row, 0, (RejectReason.SECRET, cleaned.unredacted))
        piece = Piece(style_of(row), "", code, 0)
        return self._snippet_row(row, piece, frozenset(), cleaned.count, 0)

    def _snippet_row(
        self, row: CodeSampleRow, piece: Piece, uses: Uses, redacted: int, removed: int
    ) -> SnippetRow | _Unneeded | Reject:
        candidate = IndexedSnippet(piece.code, frozenset(use.path for use in uses), _place(row, piece.line))
        example_of = self._there.offer(candidate, row["origin"])
        snippet: SnippetRow = {
            "id": content_id(row["library"], row["version"], None, piece.preamble, piece.code),
            "library": row["library"],
            "version": row["version"],
            "language": row["language"],
            "source": row["source"],
            "version_evidence": row["version_evidence"],
            "version_statement": row["version_statement"],
            "origin": row["origin"],
            "place": row["place"],
            "url": row["url"],
            "title": row["title"],
            "score": row["score"],
            "accepted": row["accepted"],
            "file": row["file"],
            "created_time": row["created_time"],
            "licence": row["licence"],
            "attribution": row["attribution"],
            "last_version": row["version"],
            "path": None,
            "style": piece.style,
            "preamble": piece.preamble,
            "code": piece.code,
            "checks": list(piece.checks),
            "example_of": [] if isinstance(example_of, tuple) else sorted(example_of),
            "redacted": redacted,
            "comments_removed": removed,
            "line": row["line"] + piece.line,
            "purl": _purl(row),
        }
        self._uses[snippet["id"]] = uses
        if not isinstance(example_of, tuple):
            return snippet
        refused = _reject(row, piece.line, example_of)
        return _Unneeded(snippet, refused) if row["source"] == SnippetSource.DOWNSTREAM else refused


def _preference(row: CodeSampleRow) -> tuple[Any, ...]:
    """Order the rows of a library as `CodeSamples.snippets` says."""
    evidence = _EVIDENCE.index(VersionEvidence(row["version_evidence"]))
    place = row["origin"], row["place"], row["file"], row["line"], row["id"]
    liked = not row["accepted"], -(row["score"] or 0)
    return evidence, _Newest(row["version"]), *liked, -row["created_time"].timestamp(), *place


class _Newest:
    """A version that sorts before older ones; other languages' versions, which PEP 440 may not know, come last."""

    def __init__(self, version: str) -> None:
        try:
            self.key: tuple[bool, Version | str] = (True, Version(version))
        except InvalidVersion:
            self.key = (False, version)

    def __lt__(self, other: _Newest) -> bool:
        return self.key > other.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Newest) and self.key == other.key

    __hash__ = None  # type: ignore[assignment]


def _without_comments(piece: Piece, names: Collection[str]) -> tuple[Piece, int]:
    preamble, of_preamble = without_comments(piece.preamble, names)
    if not piece.checks:
        code, of_code = without_comments(piece.code, names)
        return replace(piece, preamble=preamble, code=code), of_preamble + of_code
    statements = [without_comments(check["statement"], names) for check in piece.checks]
    bare: list[SnippetCheck] = [
        {**check, "statement": text} for check, (text, _) in zip(piece.checks, statements, strict=True)
    ]
    checks = [check for check in bare if check["statement"].strip()]
    code = "".join(check["statement"] for check in checks)
    count = of_preamble + sum(removed for _, removed in statements)
    return replace(piece, preamble=preamble, code=code, checks=tuple(checks)), count


def _is_python(row: CodeSampleRow) -> bool:
    return bool(row["language"] == Language.PYTHON)


def _purl(row: CodeSampleRow) -> str | None:
    """Return the package URL of what a row stands in: of a package itself, or of a repository at a commit."""
    place: str = row["place"]
    if prefix := SnippetSource(row["source"]).source.purl:
        return prefix + place.lower()
    return place if place.startswith("pkg:") else None


def _place(row: CodeSampleRow, line: int) -> str:
    return f"{row['place']}{' ' if row['file'] else ''}{row['file']}:{row['line'] + line}"


def _reject(row: CodeSampleRow, line: int, refusal: Refusal) -> Reject:
    return Reject(_place(row, line), refusal[0], f"for {row['library']} {row['version']}: {refusal[1]}")
