"""The closed vocabularies of every table: one enum per idea, each member with its meaning.

`schemas/*.yaml` name these enums, and the dataset card prints the meanings, so that a value and
its explanation exist once.
"""

from pipeline.terms.alerts import AlertKind
from pipeline.terms.annotation import DecisionKind, Objection, QueueStatus, ReviewFormat
from pipeline.terms.changes import (
    OF_PARAMETERS,
    Agreement,
    ChangeKind,
    DirectiveKind,
    DirectiveOwner,
    Disagreement,
    GitChameleonCategory,
    LibEvolutionEvalTag,
    Same,
    VersiCodeTag,
)
from pipeline.terms.drafts import DraftKind, DraftStanding
from pipeline.terms.exports import ExportFormat, NotHeld, RecordKind
from pipeline.terms.families import RowFamily
from pipeline.terms.functions import FunctionRun, TestKind
from pipeline.terms.gates import GateKind, GateStanding, PublicationState
from pipeline.terms.libraries import Unsuited
from pipeline.terms.problems import InputChange, ProblemRun
from pipeline.terms.projects import FunctionType, ProjectOutcome, RequirementBasis, TestOutcome
from pipeline.terms.prompts import Given, NoPrompt
from pipeline.terms.review import FlagKind, RejectReason, ReviewStatus
from pipeline.terms.running import EnvironmentOutcome, Outcome, Process, Rung, Variation, VerdictRole
from pipeline.terms.samples import (
    Access,
    Codemod,
    Direction,
    DocumentPart,
    DocumentSource,
    Drafter,
    DraftField,
    Evidence,
    ExternalSource,
    Granularity,
    Improves,
    Language,
    MigrationBasis,
    RetrieverKind,
    SnippetSource,
    SnippetStyle,
    UsageForm,
    VersionEvidence,
    VersionPattern,
)
from pipeline.terms.scenes import BlockType, Scene
from pipeline.terms.scores import Exclusion, Facet, Family, Metric
from pipeline.terms.snapshots import ErratumReason, Rebuilding
from pipeline.terms.surface import (
    ArtifactKind,
    DeprecationChannel,
    HelperArgument,
    HelperEffect,
    ParameterDeprecation,
    ParameterKind,
    ParameterSource,
    PublicBecause,
    SourceKind,
    SymbolKind,
)
from pipeline.terms.survival import Loss
from pipeline.terms.term import Term

__all__ = [
    "OF_PARAMETERS",
    "Access",
    "Agreement",
    "AlertKind",
    "ArtifactKind",
    "BlockType",
    "ChangeKind",
    "Codemod",
    "DecisionKind",
    "DeprecationChannel",
    "Direction",
    "DirectiveKind",
    "DirectiveOwner",
    "Disagreement",
    "DocumentPart",
    "DocumentSource",
    "DraftField",
    "DraftKind",
    "DraftStanding",
    "Drafter",
    "EnvironmentOutcome",
    "ErratumReason",
    "Evidence",
    "Exclusion",
    "ExportFormat",
    "ExternalSource",
    "Facet",
    "Family",
    "FlagKind",
    "FunctionRun",
    "FunctionType",
    "GateKind",
    "GateStanding",
    "GitChameleonCategory",
    "Given",
    "Granularity",
    "HelperArgument",
    "HelperEffect",
    "Improves",
    "InputChange",
    "Language",
    "LibEvolutionEvalTag",
    "Loss",
    "Metric",
    "MigrationBasis",
    "NoPrompt",
    "NotHeld",
    "Objection",
    "Outcome",
    "ParameterDeprecation",
    "ParameterKind",
    "ParameterSource",
    "ProblemRun",
    "Process",
    "ProjectOutcome",
    "PublicBecause",
    "PublicationState",
    "QueueStatus",
    "Rebuilding",
    "RecordKind",
    "RejectReason",
    "RequirementBasis",
    "RetrieverKind",
    "ReviewFormat",
    "ReviewStatus",
    "RowFamily",
    "Rung",
    "Same",
    "Scene",
    "SnippetSource",
    "SnippetStyle",
    "SourceKind",
    "SymbolKind",
    "Term",
    "TestKind",
    "TestOutcome",
    "Unsuited",
    "UsageForm",
    "Variation",
    "VerdictRole",
    "VersiCodeTag",
    "VersionEvidence",
    "VersionPattern",
]
