"""Editor scenes (Codev-Bench): blocks of functions that a project's tests reach, as a developer meets them."""

from pipeline.scenes.proving import RunVariants, run_blocks
from pipeline.scenes.rules import SceneRules
from pipeline.scenes.stage import scenes_stage
from pipeline.scenes.views import cut

__all__ = ["RunVariants", "SceneRules", "cut", "run_blocks", "scenes_stage"]
