"""The public API of a release, read from its sources by griffe, statically."""

from pipeline.surface.directive_rules import DirectiveRules
from pipeline.surface.helpers import HelperRules
from pipeline.surface.inspected import record_of
from pipeline.surface.labels import DYNAMIC, EXTENDS, OPAQUE, STARS, UNPARSED, UNPARSED_MODULE
from pipeline.surface.model import SURFACE_VERSION, Surface, SurfaceReader, read_surface
from pipeline.surface.reading import ReadingRules, Records
from pipeline.surface.records import GIVEN, UNSEEN_MEMBERS, UNSEEN_SIGNATURE, ModuleRecord
from pipeline.surface.rules import SurfaceRules
from pipeline.surface.sources import module_name, paths_in_scope
from pipeline.surface.stage import identity, in_order, surface_stage

__all__ = [
    "DYNAMIC",
    "EXTENDS",
    "GIVEN",
    "OPAQUE",
    "STARS",
    "SURFACE_VERSION",
    "UNPARSED",
    "UNPARSED_MODULE",
    "UNSEEN_MEMBERS",
    "UNSEEN_SIGNATURE",
    "DirectiveRules",
    "HelperRules",
    "ModuleRecord",
    "ReadingRules",
    "Records",
    "Surface",
    "SurfaceReader",
    "SurfaceRules",
    "identity",
    "in_order",
    "module_name",
    "paths_in_scope",
    "read_surface",
    "record_of",
    "surface_stage",
]
