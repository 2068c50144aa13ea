"""Exports: a snapshot as the files of the benchmarks, and their files as samples and rows."""

from pipeline.export.export import LAYOUTS, export
from pipeline.export.folder import Written, check_folder
from pipeline.export.projects import IndexSources
from pipeline.export.snapshot import ExportError, Snapshot

__all__ = ["LAYOUTS", "ExportError", "IndexSources", "Snapshot", "Written", "check_folder", "export"]
