"""The stage `controlled`: completions made from the documentation of each version by a template."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.contexts.documents import Documentation
from pipeline.contexts.rules import ControlledRules
from pipeline.drafting import Request, Text, Writer, Written, notes_of, untold
from pipeline.instances import PLAIN, History, Tagging, readable, tags_of
from pipeline.lake import Output, Reject, Row, content_id
from pipeline.lifecycle import LifecycleRules, Tags
from pipeline.terms import Access, DraftField, LibEvolutionEvalTag, RejectReason, SymbolKind

_CALLABLE = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD})
_INSTANCE = "instance"


def controlled_stage(
    releases: Sequence[Row],
    api_documents: Sequence[Row],
    symbols: Sequence[Row],
    changes: Sequence[Row],
    lifecycles: Iterable[Row],
    tagging: LifecycleRules,
    rules: ControlledRules,
    writer: Writer,
    *,
    ignore_case: bool,
) -> Output:
    """Make the table `controlled_completions`; the unit is a documented API in a version where it says something.

    These versions are the first that can be compared with the one before, and each in which the API is new, about to
    go or modified (LibEvolutionEval, 2412.04478, section 2.1 and appendix B). Refused are NO_TEXT (no sentence of the
    document describes it), DRAFT_WAITING (a model may), LEAKS_ANSWER (module, class or arguments give the name away),
    OVER_QUOTA. Notes: those of `notes_of`.
    """
    history = History(releases, symbols, changes, Tags(lifecycles, tagging).at)
    documentation = Documentation(releases, api_documents)
    classes = frozenset(row["path"] for row in (*symbols, *api_documents) if row["kind"] == SymbolKind.CLASS)
    maker = _Maker(history, classes, rules, ignore_case)
    asked = [maker.candidate(*candidate) for candidate in _candidates(documentation, history)]
    candidates = [one for one in asked if isinstance(one, _Candidate)]
    written = dict(zip(candidates, writer.write([one.request for one in candidates]), strict=True))
    results = [maker.completion(one, told) for one, told in written.items()]
    kept, surplus = _within_quota([result for result in results if not isinstance(result, Reject)], rules)
    rejects = [*(one for one in [*asked, *results] if isinstance(one, Reject)), *surplus]
    return Output(
        {"controlled_completions": kept},
        seen=len(asked),
        made=len(kept),
        rejects=sorted(rejects, key=lambda reject: reject.key),
        notes=list(notes_of((one.key, told) for one, told in written.items())),
    )


def _candidates(documentation: Documentation, history: History) -> Iterator[tuple[Row, str]]:
    """Yield the documents of what can be called with the versions in which they say something."""
    compared = [version for version in history.releases if history.previous(version)]
    begun: set[str] = set()
    for version in compared:
        for document in documentation.collection(version):
            path = document["path"]
            name = path.rpartition(".")[2]
            if document["kind"] not in _CALLABLE or document["signature"] is None or name.startswith("_"):
                continue
            if path not in begun or (history.tags(path, version) or PLAIN) != PLAIN:
                begun.add(path)
                yield document, version


def _within_quota(rows: Sequence[Row], rules: ControlledRules) -> tuple[list[Row], list[Reject]]:
    """Keep so many rows of each version and tag as the rules say, by id, which is as good as a draw."""
    taken: Counter[tuple[str, str]] = Counter()
    kept: list[Row] = []
    rejects: list[Reject] = []
    for row in sorted(rows, key=lambda row: str(row["id"])):
        tag = row["libevolutioneval_tag"]
        unchanged = tag == LibEvolutionEvalTag.UNCHANGED
        limit = rules.max_unchanged_per_version if unchanged else rules.max_changed_per_version
        if taken[row["version"], tag] < limit:
            taken[row["version"], tag] += 1
            kept.append(row)
        else:
            detail = f"the rule takes {limit} that are {tag} in {row['version']}"
            rejects.append(Reject(f"{row['path']} {row['version']}", RejectReason.OVER_QUOTA, detail))
    return kept, rejects


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A documented API in a version, with its tags, and the request for its description."""

    document: Row
    version: str
    tags: Tagging

    @property
    def key(self) -> str:
        return f"{self.document['path']} {self.version}"

    @property
    def name(self) -> str:
        return str(self.document["path"].rpartition(".")[2])

    @property
    def request(self) -> Request:
        texts, code = (self.document["description"],), self.document["signature"]
        return Request(self.key, DraftField.DESCRIPTION, (self.name,), texts, code)


@dataclass(frozen=True, slots=True)
class _Maker:
    """What controlled completions are made with."""

    history: History
    classes: frozenset[str]
    rules: ControlledRules
    ignore_case: bool

    def candidate(self, document: Row, version: str) -> _Candidate | Reject:
        """Return what a completion can be made of."""
        path = document["path"]
        tags = tags_of(f"{path} {version}", path, version, self.history)
        return tags if isinstance(tags, Reject) else _Candidate(document, version, tags)

    def completion(self, one: _Candidate, written: Written) -> Row | Reject:
        """Fill the template for an API in a version."""
        if written.text is None:
            return untold(one.key, written, "no sentence of the document describes it")
        filled = self._filled(one.document, written.text.text)
        if leak := readable(filled["left_context"] + filled["hint"], one.name, ignore_case=self.ignore_case):
            return Reject(one.key, RejectReason.LEAKS_ANSWER, f"{leak!r} is left to read")
        return self._row(one, written.text, filled)

    def _row(self, one: _Candidate, description: Text, filled: Row) -> Row:
        path, library = one.document["path"], one.document["library"]
        return {
            "id": content_id("controlled", library, one.version, path, filled["left_context"]),
            **self._head(one.document, one.version, one.tags),
            "description": description.text,
            "redacted": description.redacted,
            **filled,
            "core_token": one.name,
        }

    def _head(self, document: Row, version: str, tags: Tagging) -> Row:
        path = document["path"]
        change = self.history.change_behind(path, version, tags)
        return {
            "library": document["library"],
            "version": version,
            "release_time": self.history.releases[version]["release_time"],
            "previous_version": self.history.previous(version),
            "path": path,
            "kind": document["kind"],
            "document_id": document["id"],
            "change_id": change["id"] if change else None,
            "versicode_tag": tags[0],
            "libevolutioneval_tag": tags[1],
        }

    def _filled(self, document: Row, description: str) -> Row:
        service, _, name = document["path"].rpartition(".")
        of_method = document["kind"] == SymbolKind.METHOD
        rules = self.rules
        hint = f"{_INSTANCE if of_method else service}."
        mandatory = [one["name"] for one in document["parameters"] if one["mandatory"]]
        left = (rules.of_method if of_method else rules.of_module).format(
            module=self._module(service),
            service=service,
            description=description,
            arguments=", ".join(mandatory) or rules.no_arguments,
            hint="",
        )
        return {
            "access": Access.INDIRECT if of_method else Access.DIRECT,
            "service": service,
            "mandatory_arguments": mandatory,
            "left_context": left,
            "hint": hint,
            "reference_call": f"{hint}{name}({', '.join(_given(mandatory, document['signature']))})",
        }

    def _module(self, path: str) -> str:
        while path in self.classes:
            path = path.rpartition(".")[0]
        return path


def _given(mandatory: Iterable[str], signature: str) -> Iterator[str]:
    """Yield the mandatory arguments as a call gives them: those that only a keyword can give with their names."""
    try:
        # The annotations of a site need not be Python; the names before them are.
        (function,) = ast.parse(f"def f{signature}: pass").body
    except (SyntaxError, ValueError):
        function = None
    by_keyword = {one.arg for one in function.args.kwonlyargs} if isinstance(function, ast.FunctionDef) else set()
    for name in mandatory:
        yield f"{name}={name}" if name in by_keyword else name
