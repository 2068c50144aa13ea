"""Exports: a snapshot as the files of the benchmarks, and their files as samples and as rows of the lake."""

from pipeline.export.export import LAYOUTS, export
from pipeline.export.folder import Written
from pipeline.export.importing import IMPORTED, Imports, import_file
from pipeline.export.projects import IndexSources, SourcesMissing
from pipeline.export.records import BadRecord, detect
from pipeline.export.samples import Converted, write_samples
from pipeline.export.snapshot import ExportError, NothingHeld, Snapshot

__all__ = [
    "IMPORTED",
    "LAYOUTS",
    "BadRecord",
    "Converted",
    "ExportError",
    "Imports",
    "IndexSources",
    "NothingHeld",
    "Snapshot",
    "SourcesMissing",
    "Written",
    "detect",
    "export",
    "import_file",
    "write_samples",
]
