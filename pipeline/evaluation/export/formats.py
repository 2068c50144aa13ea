"""The registry of formats."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export import codevbench, evocodebench, gitchameleon, harbor, libevolutioneval, versicode
from pipeline.evaluation.export.format import Format

FORMATS: Mapping[ExportFormat, Format] = {
    ExportFormat.VERSICODE: versicode.FORMAT,
    ExportFormat.LIBEVOLUTIONEVAL: libevolutioneval.FORMAT,
    ExportFormat.GITCHAMELEON: gitchameleon.FORMAT,
    ExportFormat.EVOCODEBENCH: evocodebench.FORMAT,
    ExportFormat.CODEVBENCH: codevbench.FORMAT,
    ExportFormat.HARBOR: harbor.FORMAT,
}
