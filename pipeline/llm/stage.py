"""The drafting stage: a description for each instance, which does not give its hidden names away."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Direction, DraftField
from pipeline.corpus.documentation.docstrings import texts_by_name
from pipeline.corpus.prose import sentences
from pipeline.lake.guard import guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import (
    CompletionRow,
    DocumentRow,
    DraftRow,
    InstanceHead,
    MigrationRow,
    RefusedDraftRow,
    SnippetRow,
    Tables,
)
from pipeline.lake.stage import Output, Reject
from pipeline.llm.names import cut_names
from pipeline.llm.refusals import missing_text, notes_of
from pipeline.llm.rules import DraftingRules
from pipeline.llm.writers import OfflineWriter, Refusal, Request, Text, Writer

_NAME = re.compile(r"[^\W\d]\w*")
_KEYWORD = re.compile(r"[(,]\s*([^\W\d]\w*)\s*=(?!=)")
"""A name by which an argument is given, in a call."""
_ARGUMENTS = re.compile(r"(?<=\w)\([^()]*(?:\)|$)")
"""The arguments of a call that prose quotes; a remark in brackets has a blank before it."""
_ENDS = " .:;,"
"""What a sentence may end in, beside what it says."""


def drafting_stage(
    tables: Tables,
    rules: DraftingRules,
    writer: Writer | None = None,
) -> Output:
    """Make the tables `drafts` and `refused_drafts` of a library; the unit is an instance.

    `writer` is who writes; the offline drafter by default. Rejects: NO_TEXT, where nothing tells what the code does or
    the text fits another API as well, or DRAFT_WAITING, where a model still may. Notes: those of `notes_of`.
    """
    writer = writer or OfflineWriter(rules)
    library = _Documentation(tables["snippets"], tables["documents"], rules)
    requested, rejects = parted(
        (
            *guarded(tables["completions"], _id, lambda row: [(row, library.for_completion(row))]),
            *guarded(tables["migrations"], _id, lambda row: [(row, library.for_migration(row))]),
        )
    )
    units, requests = len(requested) + len(rejects), [request for _, request in requested]
    drafts: list[DraftRow] = []
    refused: list[RefusedDraftRow] = []
    results = [
        (request, row, written) for (row, request), written in zip(requested, writer.write(requests), strict=True)
    ]
    for request, instance, written in results:
        if written.text is None:
            detail = f"none of {len(request.docstrings)} docstrings has a sentence that describes the code"
            rejects.append(missing_text(request.subject_id, written, detail))
        elif written.text.redacted and (other := library.alike(instance, request.hidden, written.text.text)):
            detail = f"without the name it describes {other} as well: {written.text.text}"
            rejects.append(Reject(request.subject_id, RejectReason.NO_TEXT, detail))
        else:
            drafts.append(_draft(instance["library"], request, written.text))
        if written.refusal is not None and not written.refusal.waiting:
            refused.append(_refused(instance["library"], request, written.refusal))
    return Output(
        {"drafts": sorted(drafts, key=_id), "refused_drafts": sorted(refused, key=_id)},
        units_in=units,
        units_out=len(drafts),
        rejects=sorted(rejects, key=lambda reject: reject.key),
        notes=list(notes_of((request.subject_id, written) for request, _, written in results)),
    )


class _Documentation:
    """The docstrings of a library by path and version, and the paths that its snippets document."""

    def __init__(self, snippets: Sequence[SnippetRow], documents: Sequence[DocumentRow], rules: DraftingRules) -> None:
        self._rules = rules
        self._sentences: dict[str, Sequence[str]] = {}
        self._snippet_paths = {row["id"]: row["path"] for row in snippets}
        self._documents: Mapping[str, list[DocumentRow]] = defaultdict(list)
        for row in documents:
            self._documents[row["path"]].append(row)

    def for_completion(self, instance: CompletionRow) -> Request:
        """Request the description of a completion from the documentation of its core API.

        The example may document another API, whose purpose is not that of the masked piece. Of an argument what the
        docstring says of the parameter comes first. A member without a docstring may have a part in its owner's.
        """
        path, version, name = instance["path"], instance["version"], instance["core_token"]
        owner, _, last = path.rpartition(".")
        docstrings = holders = self._docstrings([(path, version)])
        of_argument: tuple[str, ...] = ()
        if name != last or not docstrings:
            holders = docstrings or self._docstrings([(owner, version)])
            parts = [texts[name] for texts in map(texts_by_name, holders) if name in texts]
            docstrings = (*parts, *docstrings)
        if name != last:
            first_of_parts = [sentences(part, self._rules.abbreviations)[:1] for part in parts]
            # The first sentence is on the function, whatever it names.
            rests = [sentences(text, self._rules.abbreviations)[1:] for text in holders]
            naming = [[sentence for sentence in rest if _names_argument(sentence, name)] for rest in rests]
            of_argument = tuple(sentence for texts in (*first_of_parts, *naming) for sentence in texts)
        return Request(instance["id"], DraftField.DESCRIPTION, (name,), docstrings, instance["code"], None, of_argument)

    def for_migration(self, instance: MigrationRow) -> Request:
        """Ask for the description of a migration: the old side's docstrings first.

        Hidden are both APIs, and all names of the target code that the source code does not show: parameters, too, even
        where a variable has their name. The source code says what to do, so that a description may do without a
        sentence.
        """
        source = instance["snippet_id"], instance["path"], instance["version"], instance["source_code"]
        target = (
            instance["target_snippet_id"],
            instance["target_path"],
            instance["target_version"],
            instance["target_code"],
        )
        sides = [source, target] if instance["direction"] == Direction.OLD_TO_NEW else [target, source]
        places = [(self._snippet_paths[sides[0][0]], sides[0][2]), *((path, version) for _, path, version, _ in sides)]
        visible, names = (set(_NAME.findall(instance[side])) for side in ("source_code", "target_code"))
        old_keywords, keywords = (set(_KEYWORD.findall(instance[side])) for side in ("source_code", "target_code"))
        apis = {instance["source_name"], instance["target_name"]}
        hidden = tuple(sorted((names - visible) | (keywords - old_keywords) | apis))
        code = "\n".join(side[3] for side in sides)
        fallback = self._rules.migration.format(
            name=_differing_name(instance["path"], instance["target_path"]),
            library=instance["library"],
            version=instance["version"],
            target_version=instance["target_version"],
        )
        return Request(instance["id"], DraftField.DESCRIPTION, hidden, self._docstrings(places), code, fallback)

    def alike(self, instance: InstanceHead, hidden: Sequence[str], text: str) -> str | None:
        """Return the path of an API of the same release that a text without its name describes as well, if any."""
        expected = text.rstrip(_ENDS)
        # What was cut out may have left no placeholder: the words before it and in all others are the same.
        words = re.split(rf"\s+|{re.escape(self._rules.placeholder)}", expected)
        pattern = re.compile(".*".join(map(re.escape, filter(None, words))), re.IGNORECASE)
        own = {name.casefold() for name in hidden}
        for path, rows in self._documents.items():
            name = path.rpartition(".")[2]
            if name.casefold() in own:
                continue
            for row in holding_at(rows, instance["version"]):
                alike = filter(pattern.match, self._sentences_of(row["docstring"]))
                if any(cut_names(sentence, (name,), self._rules).rstrip(_ENDS) == expected for sentence in alike):
                    return path
        return None

    def _sentences_of(self, docstring: str) -> Sequence[str]:
        if docstring not in self._sentences:
            every = sentences(docstring, self._rules.abbreviations)
            self._sentences[docstring] = every[: self._rules.predicates_tried]
        return self._sentences[docstring]

    def _docstrings(self, places: Sequence[tuple[str | None, str]]) -> tuple[str, ...]:
        docstrings = [
            row["docstring"]
            for path, version in places
            if path is not None
            for row in holding_at(self._documents.get(path, ()), version)
        ]
        return tuple(dict.fromkeys(docstrings))


def _differing_name(path: str, other: str) -> str:
    """Return the first part of a path that another lacks; the last part if none differs, or only the package does."""
    parts = path.split(".")
    differing = (place for place, (part, its) in enumerate(zip(parts, other.split("."), strict=False)) if part != its)
    return parts[next(differing, 0) or -1]


def _names_argument(sentence: str, name: str) -> bool:
    """Return whether a sentence names an argument outside of quoted calls: not `iter(func, sentinel)`."""
    before, prose = "", sentence
    # The innermost arguments go first.
    while prose != before:
        before, prose = prose, _ARGUMENTS.sub("", prose)
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", prose) is not None


def _id(row: InstanceHead | DraftRow | RefusedDraftRow) -> str:
    return str(row["id"])


def _draft(library: str, request: Request, text: Text) -> DraftRow:
    return {
        "id": content_id(request.subject_id, request.field, text.drafter, text.text),
        "library": library,
        "subject_id": request.subject_id,
        "field": request.field,
        "text": text.text,
        "redacted": text.redacted,
        "drafter": text.drafter,
        "model": text.model,
        "prompt_sha256": text.prompt_sha256,
        "tokens": text.tokens,
        "nano_usd": text.nano_usd,
    }


def _refused(library: str, request: Request, refusal: Refusal) -> RefusedDraftRow:
    return {
        "id": content_id(request.subject_id, request.field, refusal.model, refusal.prompt_sha256),
        "library": library,
        "subject_id": request.subject_id,
        "field": request.field,
        **refusal.columns,
    }
