"""The closed vocabularies of every table: one enum per idea, each member with its meaning.

`schemas/*.yaml` name these enums, and the dataset card prints the meanings, so that a value and
its explanation exist once.
"""

from pipeline.terms.changes import (
    Agreement,
    ChangeKind,
    DirectiveKind,
    DirectiveOwner,
    Disagreement,
    GitChameleonCategory,
    LibEvolutionEvalTag,
    VersiCodeTag,
)
from pipeline.terms.review import FlagKind, RejectReason, ReviewStatus
from pipeline.terms.running import EnvironmentOutcome, Outcome, Process, Rung, Variation, VerdictRole
from pipeline.terms.samples import (
    Access,
    Direction,
    DocumentSource,
    Drafter,
    DraftField,
    Evidence,
    Granularity,
    Language,
    MigrationBasis,
    SnippetSource,
    SnippetStyle,
    UsageForm,
    VersionEvidence,
    VersionPattern,
)
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
from pipeline.terms.term import Term

__all__ = [
    "Access",
    "Agreement",
    "ArtifactKind",
    "ChangeKind",
    "DeprecationChannel",
    "Direction",
    "DirectiveKind",
    "DirectiveOwner",
    "Disagreement",
    "DocumentSource",
    "DraftField",
    "Drafter",
    "EnvironmentOutcome",
    "Evidence",
    "FlagKind",
    "GitChameleonCategory",
    "Granularity",
    "HelperArgument",
    "HelperEffect",
    "Language",
    "LibEvolutionEvalTag",
    "MigrationBasis",
    "Outcome",
    "ParameterDeprecation",
    "ParameterKind",
    "ParameterSource",
    "Process",
    "PublicBecause",
    "RejectReason",
    "ReviewStatus",
    "Rung",
    "SnippetSource",
    "SnippetStyle",
    "SourceKind",
    "SymbolKind",
    "Term",
    "UsageForm",
    "Variation",
    "VerdictRole",
    "VersiCodeTag",
    "VersionEvidence",
    "VersionPattern",
]
