"""From the lake to what researchers load: the quality gate, snapshots, their card and their verification."""

from pipeline.publish.card import FAMILIES
from pipeline.publish.controlled import controlled_gate_stage
from pipeline.publish.draft import Draft, make_draft
from pipeline.publish.functions import functions_gate_stage
from pipeline.publish.gate import gate_stage
from pipeline.publish.manifest import Entry, Manifest
from pipeline.publish.names import latest
from pipeline.publish.problems import problems_gate_stage
from pipeline.publish.quality import QualityRules
from pipeline.publish.repository_tasks import repository_gate_stage
from pipeline.publish.scenes import scenes_gate_stage
from pipeline.publish.snapshot import NotPlaced, Published, place, publish
from pipeline.publish.tables import TABLES, TAGGED, NothingToPublish, OutdatedTables
from pipeline.publish.verify import verify

__all__ = [
    "FAMILIES",
    "TABLES",
    "TAGGED",
    "Draft",
    "Entry",
    "Manifest",
    "NotPlaced",
    "NothingToPublish",
    "OutdatedTables",
    "Published",
    "QualityRules",
    "controlled_gate_stage",
    "functions_gate_stage",
    "gate_stage",
    "latest",
    "make_draft",
    "place",
    "problems_gate_stage",
    "publish",
    "repository_gate_stage",
    "scenes_gate_stage",
    "verify",
]
