"""The stage `controlled`: completions made from the documentation of each version by a template."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypedDict

from pipeline.api.history.rules import LifecycleRules
from pipeline.api.history.tags import Tags
from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.changes import OFFERED, LibEvolutionEvalTag
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Access, Drafter, DraftField
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.corpus.prose import sentences
from pipeline.families.completions_and_migrations.head import tags_of
from pipeline.families.completions_and_migrations.history import PLAIN, History, Tagging
from pipeline.families.completions_and_migrations.masks import readable
from pipeline.families.contexts.documents import Documentation
from pipeline.families.contexts.rules import ControlledRules
from pipeline.lake.guard import attempt, guarded
from pipeline.lake.ids import content_id
from pipeline.lake.rows import (
    ApiDocumentRow,
    ControlledCompletionRow,
    Tables,
)
from pipeline.lake.stage import Output, Reject
from pipeline.llm.refusals import missing_text, notes_of
from pipeline.llm.writers import Improver, Request, Text, WriterResult

_CALLABLE = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD})
_INSTANCE = "instance"
_Question = tuple[str, str, tuple[str, ...]]
"""Service, first sentence of the description without the name, and arguments that a call of an API gives."""
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|cf|vs)\.$")
"""How a piece of text ends that is no whole sentence."""
_WHOLE = re.compile(r"(?<!\betc)[.!]$")
_NO_ADDITION = re.compile(
    r"\w\(|https?:|\b(?:example|instance)\b|^(?:also|but|for|however|note|remember|see|so|thus|use)\b", re.IGNORECASE
)
"""What a sentence has that is about one call, or only goes on from another."""
_CODE_NAME = re.compile(r"\w*[^\W_]_\w+")
"""A name that no word of English is: of an argument, or of another API."""
_LEAST_LETTERS = 3
"""Of the name of a parameter that a word of a sentence is taken for: `a`, `it` and `to` are words of English."""
_OF_CLASS = frozenset({"classmethod", "staticmethod"})
"""Labels of methods that are called on their class."""


def controlled_stage(
    tables: Tables,
    tagging: LifecycleRules,
    rules: ControlledRules,
    writer: Improver,
    *,
    ignore_case: bool,
) -> Output:
    """Make the table `controlled_completions`; the unit is a documented API that is offered, in a meaningful version.

    These versions are the first that can be compared with the one before, and each in which the API is new, about to
    go or modified (LibEvolutionEval, 2412.04478, section 2.1 and appendix B). Refused are NO_TEXT (no sentence of the
    document describes it), DRAFT_WAITING (a model may), SEVERAL_ANSWERS (another API of its module or class is
    documented with the same first sentence and arguments), TOO_SHORT (all arguments of a function are optional, so
    that a call would give none), LEAKS_ANSWER (module, class or arguments give the
    name away), OVER_QUOTA. Notes: those of `notes_of`.
    """
    history = History(tables["releases"], tables["symbols"], tables["changes"], Tags(tables["lifecycles"], tagging).at)
    documentation = Documentation(tables["releases"], tables["api_documents"])
    classes = frozenset(
        row["path"] for row in (*tables["symbols"], *tables["api_documents"]) if row["kind"] == SymbolKind.CLASS
    )
    twins = functools.cache(lambda version: _by_question(documentation.collection(version)))
    maker = _Maker(history, classes, twins, rules, ignore_case)
    # The description of an API that a library does not offer may fit an offered one as well.
    offered = {change["path"] for change in tables["changes"] if change["reach"] in OFFERED}
    not_offered = {change["path"] for change in tables["changes"]} - offered
    results = list(
        guarded(
            _candidates(documentation, history, not_offered),
            lambda candidate: f"{candidate[0]['path']} {candidate[1]}",
            lambda candidate: [maker.candidate(*candidate)],
        )
    )
    candidates = [drawn for drawn in results if isinstance(drawn, _Candidate)]
    written = dict(zip(candidates, writer.write_offline([drawn.request for drawn in candidates]), strict=True))
    by_candidate = {drawn: attempt(drawn.key, maker.completion, drawn, text) for drawn, text in written.items()}
    accepted, surplus = _within_quota(by_candidate, rules)
    # A model is asked for drawn candidates, and for ones without a text where the quota has room.
    requested = [
        *accepted,
        *maker.free_places(accepted, [drawn for drawn in candidates if written[drawn].text is None]),
    ]
    improved = writer.improve([drawn.request for drawn in requested], [written[drawn] for drawn in requested])
    for drawn, text in zip(requested, improved, strict=True):
        if text != written[drawn]:
            better = attempt(drawn.key, maker.completion, drawn, text)
            by_candidate[drawn] = by_candidate[drawn] if written[drawn].text and isinstance(better, Reject) else better
    rows = [row for drawn in requested if not isinstance(row := by_candidate[drawn], Reject)]
    rejects = [drawn for drawn in (*results, *by_candidate.values()) if isinstance(drawn, Reject)] + surplus
    return Output(
        {"controlled_completions": sorted(rows, key=_id)},
        units_in=len(results),
        units_out=len(rows),
        rejects=sorted(rejects, key=lambda reject: reject.key),
        notes=list(notes_of((drawn.key, text) for drawn, text in zip(requested, improved, strict=True))),
    )


def _candidates(
    documentation: Documentation, history: History, not_offered: Container[str]
) -> Iterator[tuple[ApiDocumentRow, str]]:
    """Yield the documents of callables with their meaningful versions."""
    compared = [version for version in history.releases if history.previous(version)]
    begun: set[str] = set()
    for version in compared:
        for document in documentation.collection(version):
            path = document["path"]
            name = path.rpartition(".")[2]
            is_called = document["kind"] in _CALLABLE and document["signature"] is not None
            if not is_called or name.startswith("_") or path in not_offered:
                continue
            if path not in begun or (history.tags(path, version) or PLAIN) != PLAIN:
                begun.add(path)
                yield document, version


def _by_question(documents: Iterable[ApiDocumentRow]) -> dict[_Question, list[str]]:
    """Return the paths of the callables of a version by what would be asked for them."""
    paths: dict[_Question, list[str]] = defaultdict(list)
    for document in documents:
        if document["kind"] in _CALLABLE and document["signature"] is not None:
            paths[_question(document)].append(document["path"])
    return paths


def _question(document: ApiDocumentRow) -> _Question:
    """Return what a prompt shows of an API."""
    service, _, name = document["path"].rpartition(".")
    sentence = next(iter(sentences(document["description"], ())), "")
    nameless = re.sub(rf"\b{re.escape(name)}\b", "", " ".join(sentence.split()), flags=re.IGNORECASE)
    return service, nameless, tuple(_prompt_arguments(document))


def _within_quota(
    by_candidate: Mapping[_Candidate, ControlledCompletionRow | Reject], rules: ControlledRules
) -> tuple[list[_Candidate], list[Reject]]:
    """Keep at most as many rows of each version and tag as the rules allow, ordered by id, which is random."""
    counts: Counter[tuple[str, str]] = Counter()
    accepted: list[_Candidate] = []
    rejects: list[Reject] = []
    rows = [(row, candidate) for candidate, row in by_candidate.items() if not isinstance(row, Reject)]
    for _, candidate in sorted(rows, key=lambda pair: _id(pair[0])):
        if counts[candidate.share] < candidate.limit(rules):
            counts[candidate.share] += 1
            accepted.append(candidate)
        else:
            detail = f"the rule takes {candidate.limit(rules)} that are {candidate.tags[1]} in {candidate.version}"
            rejects.append(Reject(candidate.key, RejectReason.OVER_QUOTA, detail))
    return accepted, rejects


def _id(row: ControlledCompletionRow) -> str:
    return str(row["id"])


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A documented API in a version, with its tags, and the request for its description."""

    document: ApiDocumentRow
    version: str
    tags: Tagging

    @property
    def key(self) -> str:
        return f"{self.document['path']} {self.version}"

    @property
    def share(self) -> tuple[str, str]:
        """What it is counted with."""
        return self.version, str(self.tags[1])

    def limit(self, rules: ControlledRules) -> int:
        """The quota of its share."""
        unchanged = self.tags[1] == LibEvolutionEvalTag.UNCHANGED
        return rules.max_unchanged_per_version if unchanged else rules.max_changed_per_version

    @property
    def name(self) -> str:
        return str(self.document["path"].rpartition(".")[2])

    @property
    def request(self) -> Request:
        texts, code = (self.document["description"],), self.document["signature"] or ""
        return Request(self.key, DraftField.DESCRIPTION, (self.name,), texts, code)

    def completed(self, description: str) -> str:
        """Return a description with the first later sentence of the document on an argument that it does not name.

        "Yield each of the items from iterable." says nothing of the exceptions that are to be suppressed. None is added
        that has the name of this API, or of another.
        """
        names = [name.lstrip("*") for name in _prompt_arguments(self.document)]
        parameters = {row["name"].lstrip("*") for row in self.document["parameters"]}
        unnamed = [name for name in names if len(name) >= _LEAST_LETTERS and not _names(description, name)]
        for before, after in itertools.pairwise(sentences(self.document["description"], ())):
            is_whole = not _ABBREVIATION.search(before) and _WHOLE.search(after) and not _NO_ADDITION.search(after)
            is_free = parameters.issuperset(_CODE_NAME.findall(after))
            is_free = is_free and not readable(after, self.name, ignore_case=True) and after not in description
            if is_whole and is_free and any(_names(after, name) for name in unnamed):
                return f"{description} {after}"
        return description


def _names(sentence: str, parameter: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(parameter)}(?![\w/-])", sentence) is not None


class _Head(TypedDict):
    """The columns that a controlled completion begins with."""

    library: str
    version: str
    release_time: datetime
    previous_version: str | None
    path: str
    kind: str
    document_id: str
    change_id: str | None
    versicode_tag: str
    libevolutioneval_tag: str


class _Filled(TypedDict):
    """The columns that the template gives."""

    access: str
    service: str
    mandatory_arguments: list[str]
    left_context: str
    hint: str
    reference_call: str


@dataclass(frozen=True, slots=True)
class _Maker:
    """What controlled completions are made with."""

    history: History
    classes: frozenset[str]
    twins: Callable[[str], Mapping[_Question, Sequence[str]]]
    rules: ControlledRules
    ignore_case: bool

    def candidate(self, document: ApiDocumentRow, version: str) -> _Candidate | Reject:
        """Return the candidates for completions."""
        path = document["path"]
        key = f"{path} {version}"
        has_options = any(parameter["mandatory"] is False for parameter in document["parameters"])
        if document["kind"] == SymbolKind.FUNCTION and has_options and not _prompt_arguments(document):
            return Reject(key, RejectReason.TOO_SHORT, "a call without arguments, all of which are optional")
        tags = tags_of(key, path, version, self.history)
        return tags if isinstance(tags, Reject) else _Candidate(document, version, tags)

    def free_places(self, accepted: Sequence[_Candidate], silent: Sequence[_Candidate]) -> list[_Candidate]:
        """Fill the quota of each share with candidates without a text, ordered by id; none that would leak."""
        counts = Counter(candidate.share for candidate in accepted)
        chosen = []
        for candidate in sorted(silent, key=lambda candidate: content_id("controlled", candidate.key)):
            if counts[candidate.share] >= candidate.limit(self.rules):
                continue
            # one at which an exception is raised is refused as having no text
            if not attempt(candidate.key, lambda filling: self._leak(filling, self._filled(filling, "")), candidate):
                counts[candidate.share] += 1
                chosen.append(candidate)
        return chosen

    def completion(self, candidate: _Candidate, written: WriterResult) -> ControlledCompletionRow | Reject:
        """Fill the template for an API in a version."""
        if written.text is None:
            return missing_text(candidate.key, written, "no sentence of the document describes it")
        if written.text.drafter == Drafter.OFFLINE and (others := self._described_alike(candidate)):
            detail = f"{' | '.join(others)[:300]} is described alike"
            return Reject(candidate.key, RejectReason.SEVERAL_ANSWERS, detail)
        text = written.text
        if text.drafter == Drafter.OFFLINE:
            # A model has read the whole document.
            text = replace(text, text=candidate.completed(text.text))
        filled = self._filled(candidate, text.text)
        if leak := self._leak(candidate, filled):
            return Reject(candidate.key, RejectReason.LEAKS_ANSWER, f"{leak!r} is left to read")
        return self._row(candidate, text, filled)

    def _described_alike(self, candidate: _Candidate) -> list[str]:
        """Return the other APIs of which the same would be asked: they are right answers, too."""
        paths = self.twins(candidate.version).get(_question(candidate.document), ())
        return [path for path in paths if path != candidate.document["path"]]

    def _leak(self, candidate: _Candidate, filled: _Filled) -> str | None:
        return readable(filled["left_context"] + filled["hint"], candidate.name, ignore_case=self.ignore_case)

    def _row(self, candidate: _Candidate, description: Text, filled: _Filled) -> ControlledCompletionRow:
        path, library = candidate.document["path"], candidate.document["library"]
        return {
            "id": content_id("controlled", library, candidate.version, path, filled["left_context"]),
            **self._head(candidate.document, candidate.version, candidate.tags),
            "description": description.text,
            "redacted": description.redacted,
            **filled,
            "core_token": candidate.name,
        }

    def _head(self, document: ApiDocumentRow, version: str, tags: Tagging) -> _Head:
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

    def _filled(self, candidate: _Candidate, description: str) -> _Filled:
        document = candidate.document
        service, _, name = document["path"].rpartition(".")
        state = self.history.definition(document["path"], candidate.version)
        on_class = state is not None and not _OF_CLASS.isdisjoint(state["labels"])
        of_method = document["kind"] == SymbolKind.METHOD and not on_class
        rules = self.rules
        hint = f"{_INSTANCE if of_method else service}."
        mandatory = [parameter["name"] for parameter in document["parameters"] if parameter["mandatory"]]
        arguments = _prompt_arguments(document)
        left_text = (rules.of_method if of_method else rules.of_module).format(
            module=self._module(service),
            service=service,
            description=description,
            arguments=", ".join(arguments) or rules.no_arguments,
            hint="",
        )
        return {
            "access": Access.INDIRECT if of_method else Access.DIRECT,
            "service": service,
            "mandatory_arguments": mandatory,
            "left_context": left_text,
            "hint": hint,
            "reference_call": f"{hint}{name}({', '.join(_call_arguments(arguments, document['signature'] or '()'))})",
        }

    def _module(self, path: str) -> str:
        while path in self.classes:
            path = path.rpartition(".")[0]
        return path


def _prompt_arguments(document: ApiDocumentRow) -> list[str]:
    """Return the arguments that a call gives: the mandatory ones, and `*args`, without which it mostly does nothing."""
    rows = document["parameters"]
    return [row["name"] for row in rows if row["mandatory"] or re.match(r"\*\w", row["name"])]


def _call_arguments(arguments: Iterable[str], signature: str) -> Iterator[str]:
    """Yield arguments as a call gives them: those that only a keyword can give with their names."""
    try:
        # The annotations of a site need not be Python; the names before them are.
        (function,) = parse_python(f"def f{signature}: pass").body
    except (SyntaxError, ValueError):
        function = None
    by_keyword = (
        {keyword_only.arg for keyword_only in function.args.kwonlyargs}
        if isinstance(function, ast.FunctionDef)
        else set()
    )
    for name in arguments:
        yield f"{name}={name}" if name in by_keyword else name
