"""Logs of the command line: lines for people or JSON, each with the run, library, stage and release at hand.

In Airflow nothing is set up here: its own logs merge the same names (`pipeline/lake/place.py`) into each line.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal, TextIO

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.types import EventDict, Processor

from pipeline.core.credentials import cut_message
from pipeline.core.printable import one_line, printable, printable_json

_SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)
_LOUD = ("urllib3", "requests_cache", "bm25s", "matplotlib")
"""What tells of every request or file in passing; its warnings are kept."""


def log_to(stream: TextIO, form: Literal["off", "text", "json"]) -> None:
    """Log to a stream from now on; off, only what a library has to warn of is said, as ever."""
    root, last = logging.getLogger(), logging.lastResort
    for handler in [handler for handler in root.handlers if isinstance(handler, _Handler) or handler is last]:
        root.removeHandler(handler)
    if form == "off":
        if last is not None:
            # There by default, and named so that a library which sets logging up when it is imported finds it done.
            root.addHandler(last)
            last.addFilter(_not_reported_by_cli)
        return
    handler = _Handler(stream)
    formatter = _Formatter(foreign_pre_chain=_SHARED, processors=_processors(form))
    formatter.escape = printable_json if form == "json" else printable
    handler.setFormatter(formatter)
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    for name in _LOUD:
        logging.getLogger(name).setLevel(logging.WARNING)


def _not_reported_by_cli(record: logging.LogRecord) -> bool:
    """Leave out what the command line says itself: failures, and the trouble that ended the last of several tries."""
    return record.name != "pipeline.orchestration.failures" and record.name.partition(".")[0] != "urllib3"


class _Formatter(ProcessorFormatter):
    """Writes lines without credentials, and with nothing in them that a terminal would obey."""

    escape: Callable[[str], str]

    def format(self, record: logging.LogRecord) -> str:
        return self.escape(cut_message(super().format(record)))


def _in_one_line(_: object, __: str, event: EventDict) -> EventDict:
    """Keep what is told in its line: text from outside could write another one."""
    event["event"] = one_line(str(event.get("event", "")))
    return event


class _Handler(logging.StreamHandler[TextIO]):
    """Ours, so that it can be told from others."""


def _processors(form: str) -> list[Processor]:
    last: list[Processor] = [_in_one_line, structlog.dev.ConsoleRenderer(colors=False)]
    if form == "json":
        last = [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer(ensure_ascii=False)]
    return [ProcessorFormatter.remove_processors_meta, *last]
