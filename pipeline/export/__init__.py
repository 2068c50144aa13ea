"""Exports: a snapshot as the files of the benchmarks, and their files as samples and as rows of the lake."""

from pipeline.export.errors import ExportError, NothingHeld
from pipeline.export.export import LAYOUTS, export
from pipeline.export.folder import Written
from pipeline.export.importing import IMPORTED, Imports, import_file
from pipeline.export.in_projects import validate_in_projects
from pipeline.export.projects import SourcesMissing, Unpack, from_index
from pipeline.export.records import BadRecord, detect
from pipeline.export.samples import IN_PROJECTS, Converted, write_samples

__all__ = [
    "IMPORTED",
    "IN_PROJECTS",
    "LAYOUTS",
    "BadRecord",
    "Converted",
    "ExportError",
    "Imports",
    "NothingHeld",
    "SourcesMissing",
    "Unpack",
    "Written",
    "detect",
    "export",
    "from_index",
    "import_file",
    "validate_in_projects",
    "write_samples",
]
