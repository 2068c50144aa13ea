"""Release checks, and states of a release: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class CheckKind(Term):
    REJECTED = "rejected", "share of what a stage looked at that it refused"
    INTERNAL_ERRORS = "internal_errors", "share of what a stage looked at that ended in an exception of Driftline"
    UNPROVEN = "unproven", "share of rows whose label no run proves"
    DUPLICATES = "duplicates", "share of rows that ask what another row asks, with the same answer"
    AGREEMENT = "agreement", "Cohen's kappa of what two annotators judged without knowing of each other"
    SURVIVAL = "survival", "share of published rows that still pass in their locked environments"
    UNREVIEWED = "unreviewed", "share of rows that are flagged and that nobody has decided on"
    LOST = "lost", "share of the last snapshot that is not there any more"
    SHIFTED = "shifted", "how far a column is from what it was in the last snapshot, 0 to 1"


class CheckStatus(Term):
    PASSED = "passed", "within what is allowed"
    APPROVAL = "approval", "a person has to approve the snapshot"
    HOLD = "hold", "nothing is published"
    NOT_MEASURED = "not_measured", "too few rows, or nothing to measure it by"


class PublicationState(Term):
    HELD = "held", "a release check holds the snapshot back"
    WAITING = "waiting", "a person has to approve it"
    READY = "ready", "nothing is in its way"
    REFUSED = "refused", "a person has refused to approve it"
    UNANSWERED = "unanswered", "nobody has answered in time"
    SUPERSEDED = "superseded", "a newer lake took its place before anybody answered"
    NOTHING = "nothing", "no instance was accepted"
    FAILED = "failed", "no candidate could be made, or it could not be placed"
    PUBLISHED = "published", "the snapshot is in its place"
