"""The stage `contexts`: the code around each published completion, and the retrieved documents of its version."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.completions_and_migrations.guessing import unknowable
from pipeline.families.completions_and_migrations.masks import readable
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import Source, parse_source
from pipeline.families.contexts.documents import Documentation, searched_text
from pipeline.families.contexts.expression import expression_at
from pipeline.families.contexts.inline import Inline, around, occurrences
from pipeline.families.contexts.query import is_too_vague, query_request
from pipeline.families.contexts.retrieval import Retriever
from pipeline.families.contexts.rules import ContextRules
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.rows import (
    ApiDocumentRow,
    PublishedCompletionRow,
    PublishedContextRow,
    PublishedRetrievalRow,
    ReleaseRow,
    Tables,
    UsageRow,
)
from pipeline.lake.stage import Output, Reject
from pipeline.llm.refusals import missing_text, notes_of
from pipeline.llm.writers import Request, Text, Writer, WriterResult


def contexts_stage(
    tables: Tables,
    rules: ContextRules,
    writer: Writer,
    retrievers: Sequence[Retriever],
    masking: MaskingRules,
) -> Output:
    """Make the tables `published_contexts` and `published_retrievals`; the unit is a published completion of a token.

    Of the three levels of a use only the token's is in-line: the cursor stands where its expression goes on. Refused
    are BROKEN_EXAMPLE (a person's edit moved the use), OVER_QUOTA (another API of the line, or another use of the API
    by the same author, stands for it), BROKEN_EXAMPLE (no expression ends with the use) and LEAKS_ANSWER: contexts,
    imports, hint and query are views of an instance, and in none of them the name of the API may be left to read.
    UNKNOWABLE are expressions with values or names that the program does not show, NO_TEXT those for which no document
    tells what to ask for, or whose query says nothing once the names are cut out, DRAFT_WAITING those for which a model
    still may. Documents that a retriever finds are the exception: they are what a reader of the documentation sees, and
    that of the API names it. The notes are those of `notes_of`.
    """
    uses = {row["id"]: row for row in tables["usages"]}
    completions = [row for row in tables["published_completions"] if row["granularity"] == Granularity.TOKEN]
    library = _Library(tables["releases"], Documentation(tables["releases"], tables["api_documents"]), rules, masking)
    unchanged, moved = _unmoved(completions, uses)
    # A program is parsed once for its completions.
    by_code = sorted(unchanged, key=lambda row: str(row["code"]))
    places, unfit = parted(attempt(row["id"], library.place, row, uses[row["usage_id"]]) for row in by_code)
    located, surplus = _chosen(places, uses, rules)
    rejects = [*moved, *unfit, *surplus]
    written = {place.key: text for place, text in zip(located, writer.write([p.request for p in located]), strict=True)}
    results = [attempt(place.key, library.context, place, written[place.key]) for place in located]
    rejects += [result for result in results if isinstance(result, Reject)]
    contexts = sorted(
        (row for row in results if not isinstance(row, Reject)), key=lambda row: str(row["completion_id"])
    )
    versions = {row["id"]: row["version"] for row in completions}
    queried = [(row, versions[row["completion_id"]]) for row in contexts]
    hits, unasked = parted(
        hit for retriever in retrievers for hit in _retrieved(queried, retriever, library.documentation, rules)
    )
    return Output(
        {"published_contexts": contexts, "published_retrievals": hits},
        units_in=len(completions),
        units_out=len(contexts),
        rejects=sorted(rejects, key=lambda reject: reject.key),
        notes=[
            *notes_of((row["completion_id"], written[row["completion_id"]]) for row in contexts),
            *unasked,
        ],
    )


def _unmoved(
    completions: Iterable[PublishedCompletionRow], uses: Mapping[str, UsageRow]
) -> tuple[list[PublishedCompletionRow], list[Reject]]:
    """Keep the completions whose use is still in its place: a person's edit may have moved it."""
    unchanged: list[PublishedCompletionRow] = []
    moved: list[Reject] = []
    for row in completions:
        use = uses[row["usage_id"]]
        if row["code"].encode()[use["name_start_byte"] : use["name_end_byte"]] == row["core_token"].encode():
            unchanged.append(row)
        else:
            moved.append(Reject(row["id"], RejectReason.BROKEN_EXAMPLE, "the use is no longer where it was found"))
    return unchanged, moved


def _chosen(
    places: Iterable[_CompletionContext], uses: Mapping[str, UsageRow], rules: ContextRules
) -> tuple[list[_CompletionContext], list[Reject]]:
    """Limit the APIs of a line, and the uses of an API by one author, as the rules require."""
    lines: Counter[tuple[str, ...]] = Counter()
    authors: Counter[tuple[str, ...]] = Counter()
    chosen: list[_CompletionContext] = []
    rejects: list[Reject] = []
    for place in sorted(places, key=lambda each: (uses[each.completion["usage_id"]]["start_byte"], each.key)):
        row = place.completion
        line = (row["snippet_id"], row["version"], str(uses[row["usage_id"]]["line"]))
        author = (row["origin"], row["version"], row["path"])
        if lines[line] >= rules.inline.max_per_line:
            rejects.append(Reject(row["id"], RejectReason.OVER_QUOTA, "another API of the line stands for it"))
        elif authors[author] >= rules.inline.max_per_api_and_origin:
            detail = f"{row['origin']} has another use of {row['path']}"
            rejects.append(Reject(row["id"], RejectReason.OVER_QUOTA, detail))
        else:
            lines[line] += 1
            authors[author] += 1
            chosen.append(place)
    return chosen, rejects


@dataclass(frozen=True, slots=True)
class _CompletionContext:
    """A completion in its program, with the document of its API, and the request for its query."""

    completion: PublishedCompletionRow
    inline: Inline
    document: ApiDocumentRow | None
    request: Request

    @property
    def key(self) -> str:
        return str(self.completion["id"])


class _Views(TypedDict):
    """The context of an instance without its query."""

    imports: str
    left_context: str
    hint: str
    right_context: str
    version_comment: str


class _Library:
    """What the contexts of a library are made from."""

    def __init__(
        self,
        releases: Iterable[ReleaseRow],
        documentation: Documentation,
        rules: ContextRules,
        masking: MaskingRules,
    ) -> None:
        self.documentation = documentation
        self._roots = {row["version"]: frozenset(row["import_names"]) for row in releases}
        self._rules = rules
        self._masking = masking
        self._parsed: tuple[str, Source] | None = None

    def place(self, completion: PublishedCompletionRow, use: UsageRow) -> _CompletionContext | Reject:
        """Find the place of a completion."""
        key, name = completion["id"], completion["core_token"]
        source = self._source(completion["code"])
        expression = expression_at(source, (use["name_start_byte"], use["name_end_byte"]))
        if expression is None:
            return Reject(key, RejectReason.BROKEN_EXAMPLE, f"no expression ends with {name!r} in line {use['line']}")
        names = occurrences(completion["masked_code"], name)
        inline = around(source, expression, names, self._roots[completion["version"]])
        document = self.documentation.in_collection(completion["path"], completion["version"])
        texts = [text for text in (document and document["description"], completion["description"]) if text][:1]
        minimum = self._rules.query.min_argument_length
        visible = "\n".join((inline.imports, inline.left, inline.hint, inline.right))
        request = query_request(name, expression.node, inline.reference, texts, minimum, visible)
        place = _CompletionContext(completion, inline, document, request)
        # Before a query is requested.
        if leak := self._leak(place, self._views(place)):
            return leak
        span = expression.cursor, expression.span[1]
        if pieces := unknowable(source, span, visible, name, self._masking.guessing, inline.hint):
            return Reject(key, RejectReason.UNKNOWABLE, f"nothing shows {', '.join(pieces)[:200]}")
        return place

    def context(self, place: _CompletionContext, written: WriterResult) -> PublishedContextRow | Reject:
        """Make the context of a completion."""
        if written.text is None:
            return missing_text(place.key, written, "no document tells what the expression does")
        if is_too_vague(written.text, self._rules.query):
            return Reject(place.key, RejectReason.NO_TEXT, f"without the names only {written.text.text!r} is left")
        row = self._row(place, written.text)
        return self._leak(place, {"query": row["query"]}) or row

    def _leak(self, place: _CompletionContext, views: Mapping[str, object]) -> Reject | None:
        name = place.completion["core_token"]
        for column, text in views.items():
            if leak := readable(str(text or ""), name, ignore_case=self._masking.ignore_case):
                return Reject(place.key, RejectReason.LEAKS_ANSWER, f"{column}: {leak!r} is left to read")
        return None

    def _views(self, place: _CompletionContext) -> _Views:
        """Return the context of an instance without its query."""
        completion, inline = place.completion, place.inline
        return {
            "imports": inline.imports,
            "left_context": inline.left,
            "hint": inline.hint,
            "right_context": inline.right,
            "version_comment": self._rules.inline.comment(completion["library"], completion["version"]),
        }

    def _source(self, code: str) -> Source:
        if self._parsed is None or self._parsed[0] != code:
            self._parsed = code, parse_source(code)
        return self._parsed[1]

    def _row(self, place: _CompletionContext, query: Text) -> PublishedContextRow:
        completion, inline, document = place.completion, place.inline, place.document
        rules = self._rules.inline
        few = "".join(inline.right.splitlines(keepends=True)[: rules.few_lines])
        return {
            "completion_id": completion["id"],
            "library": completion["library"],
            **self._views(place),
            "reference_call": inline.reference,
            "right_context_few_lines": few,
            "masked_names": inline.masked_names,
            "in_class": inline.in_class,
            "query": query.text,
            "document_id": document["id"] if document else None,
            "query_redacted": query.redacted,
            "query_drafter": query.drafter,
            "canary": completion["canary"],
        }


def _retrieved(
    queried: Iterable[tuple[PublishedContextRow, str]],
    retriever: Retriever,
    documentation: Documentation,
    rules: ContextRules,
) -> Iterator[PublishedRetrievalRow | Reject]:
    """Yield the documents of its version that a retriever returns for the query of each context.

    A version in which one raises an exception is the note INTERNAL_ERROR, and has no hits of it.
    """
    by_version: dict[str, list[PublishedContextRow]] = defaultdict(list)
    for context, version in queried:
        by_version[version].append(context)

    def of_version(version: str) -> Iterator[PublishedRetrievalRow]:
        contexts = by_version[version]
        documents = documentation.collection(version)
        texts = [searched_text(row, rules.retrieval.searched) for row in documents]
        hits_by_query = retriever.best(
            texts, [context["query"] or "" for context in contexts], rules.retrieval.documents
        )
        for context, hits in zip(contexts, hits_by_query, strict=True):
            for rank, hit in enumerate(hits, 1):
                yield {
                    "completion_id": context["completion_id"],
                    "library": context["library"],
                    "retriever": retriever.kind,
                    "rank": rank,
                    "document_id": documents[hit.place]["id"],
                    "path": documents[hit.place]["path"],
                    "score": hit.score,
                }

    yield from guarded(sorted(by_version), f"{retriever.kind} {{}}".format, of_version)
