"""The public API of a release, read from its sources by griffe, statically."""

from pipeline.surface.labels import DYNAMIC, EXTENDS, OPAQUE, STARS, UNPARSED, UNPARSED_MODULE
from pipeline.surface.model import SURFACE_VERSION, Surface, read_surface
from pipeline.surface.records import UNSEEN_SIGNATURE
from pipeline.surface.rules import SurfaceRules
from pipeline.surface.stage import state_rows, surface_stage

__all__ = [
    "DYNAMIC",
    "EXTENDS",
    "OPAQUE",
    "STARS",
    "SURFACE_VERSION",
    "UNPARSED",
    "UNPARSED_MODULE",
    "UNSEEN_SIGNATURE",
    "Surface",
    "SurfaceRules",
    "read_surface",
    "state_rows",
    "surface_stage",
]
