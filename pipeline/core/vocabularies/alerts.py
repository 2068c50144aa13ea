"""What people are told about: a closed vocabulary."""

from pipeline.core.vocabularies.term import Term


class AlertKind(Term):
    FAILED = "failed", "a task of a run failed for good"
    LATE = "late", "a run has not ended in the time that the rules give it"
    WAITING = "waiting", "a snapshot waits for a person to sign it off"
