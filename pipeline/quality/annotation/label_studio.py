"""Label Studio's format: samples as tasks, decisions as annotations, and the labelling interface that fits them.

Source: Label Studio's documentation, "Label Studio JSON format of annotated tasks". A skipped task is one whose
annotation was cancelled; what was undone is not written, since there is no way to say so there.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from xml.sax.saxutils import quoteattr

from msgspec import ValidationError, convert, to_builtins

from pipeline.core.vocabularies.annotation import DecisionKind, Objection
from pipeline.quality.annotation.exchange import BadLine, Line, Ruling

_OBJECT = "sample"  # the object tag that every control tag belongs to
_EDIT = "edit_"
_RULED = (DecisionKind.ACCEPT, DecisionKind.REJECT, DecisionKind.EDIT)
_EXPORTED = frozenset({*_RULED, DecisionKind.SKIP, DecisionKind.COMMENT})
_HEAD = ("id", "family", "library", "version", "title", "source", "status", "content", "flags", "fields")


def to_task(line: Line) -> dict[str, Any]:
    """Return a sample as a task; its texts are fields of `data` under their own names."""
    plain: dict[str, Any] = to_builtins(line)
    data = {f"sample_{name}": plain[name] for name in _HEAD} | line.texts | {_OBJECT: _overview(line)}
    return {"data": data, "annotations": [_annotation(ruling) for ruling in line.decisions if ruling.kind in _EXPORTED]}


def from_task(task: Mapping[str, Any]) -> Line:
    """Return the sample of a task, as `to_task` wrote it and people have annotated it since.

    Errors: BadLine.
    """
    try:
        data = dict(task["data"])
        head = {name: data.pop(f"sample_{name}") for name in _HEAD}
        data.pop(_OBJECT, None)
        rulings = [_ruling(annotation, data) for annotation in task.get("annotations", [])]
        return convert(head | {"texts": data, "decisions": [to_builtins(ruling) for ruling in rulings]}, Line)
    except (LookupError, TypeError, AttributeError, ValueError, ValidationError) as error:
        raise BadLine(
            f"not a task that `driftline review export` wrote: {type(error).__name__}: {error}",
            code="label_studio_task_invalid",
        ) from None


def interface(fields: frozenset[str]) -> str:
    """Return the labelling interface for tasks whose samples have these fields to edit."""
    kinds = "".join(f"<Choice value={quoteattr(kind)}/>" for kind in _RULED)
    reasons = "".join(f"<Choice value={quoteattr(objection)}/>" for objection in Objection)
    edits = "".join(_field(name) for name in sorted(fields))
    return (
        f'<View>\n  <Text name="{_OBJECT}" value="${_OBJECT}"/>\n'
        f'  <Choices name="decision" toName="{_OBJECT}">{kinds}</Choices>\n'
        f'  <Choices name="objection" toName="{_OBJECT}">{reasons}</Choices>\n'
        f'  <TextArea name="comment" toName="{_OBJECT}" maxSubmissions="1"/>\n{edits}</View>\n'
    )


def _field(name: str) -> str:
    attributes = f'name={quoteattr(_EDIT + name)} toName="{_OBJECT}" value="${name}"'
    return f'  <TextArea {attributes} editable="true" maxSubmissions="1"/>\n'


def _overview(line: Line) -> str:
    why = "\n".join(f"{flag.kind}: {flag.evidence}" for flag in line.flags)
    texts = "\n\n".join(f"--- {name}\n{text}" for name, text in line.texts.items())
    return f"{line.family} of {line.library} {line.version}: {line.title}\n{why}\n\n{texts}"


def _annotation(ruling: Ruling) -> dict[str, Any]:
    results = [_choice("decision", ruling.kind)] if ruling.kind in _RULED else []
    results += [_choice("objection", ruling.objection)] if ruling.objection else []
    results += [_text("comment", ruling.comment)] if ruling.comment else []
    results += [_text(_EDIT + name, value) for name, value in ruling.after.items()]
    annotation: dict[str, Any] = {
        "completed_by": {"email": ruling.annotator},
        "was_cancelled": ruling.kind == DecisionKind.SKIP,
        "result": results,
    }
    annotation |= {"created_at": ruling.time.astimezone(UTC).isoformat()} if ruling.time else {}
    annotation |= {"lead_time": ruling.seconds} if ruling.seconds is not None else {}
    return annotation


def _choice(name: str, value: str) -> dict[str, Any]:
    return {"from_name": name, "to_name": _OBJECT, "type": "choices", "value": {"choices": [str(value)]}}


def _text(name: str, value: str) -> dict[str, Any]:
    return {"from_name": name, "to_name": _OBJECT, "type": "textarea", "value": {"text": [value]}}


def _ruling(annotation: Mapping[str, Any], texts: Mapping[str, str]) -> Ruling:
    """Return an annotation as a decision; fields that the page had filled in, and nobody changed, are no edit."""
    values: dict[str, str] = {}
    for result in annotation["result"]:
        chosen = result["value"]["choices" if result["type"] == "choices" else "text"]
        if chosen:
            values[result["from_name"]] = chosen if isinstance(chosen, str) else chosen[0]
    kind = DecisionKind.SKIP if annotation.get("was_cancelled") else DecisionKind(values.get("decision", "comment"))
    created = annotation.get("created_at")
    written = {name.removeprefix(_EDIT): value for name, value in values.items() if name.startswith(_EDIT)}
    after = {name: value for name, value in written.items() if value != texts.get(name)}
    return Ruling(
        annotator=_annotator(annotation.get("completed_by")),
        kind=kind,
        time=datetime.fromisoformat(created) if created else None,
        objection=Objection(values["objection"]) if "objection" in values else None,
        comment=values.get("comment", ""),
        after=after if kind == DecisionKind.EDIT else {},
        seconds=annotation.get("lead_time"),
    )


def _annotator(completed_by: Any) -> str:
    """Return who annotated: Label Studio gives the number of a user, or an object with the address."""
    if isinstance(completed_by, Mapping):
        return str(completed_by.get("email") or completed_by["id"])
    return f"label-studio:{completed_by}"
