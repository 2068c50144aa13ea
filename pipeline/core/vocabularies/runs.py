"""How runs and their stages stand: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class RunState(Term):
    RUNNING = "running", "a stage runs"
    IDLE = "idle", "it has not ended and no stage runs: it waits for a worker, or was killed"
    COLLECTED = "collected", "its stages have ended, and no candidate was made yet"


class StageState(Term):
    WAITING = "waiting", "it has not begun"
    RUNNING = "running", "it runs"
    DONE = "done", "it looked at something new or changed"
    UNCHANGED = "unchanged", "there was nothing to do"
    FAILED = "failed", "it ended with an error"
    INTERRUPTED = "interrupted", "it began and its process is gone"
    NOT_REACHED = "not_reached", "the run ended before it"
