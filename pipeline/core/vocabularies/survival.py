"""Survival of what was published: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class Loss(Term):
    """Why a reference that passed when it was published does not pass any more."""

    FILE_GONE = "file_gone", "the index no longer has a file that the lock, or the project, names"
    YANKED = "yanked", "a pinned release was withdrawn, and its environment cannot be made any more"
    ENVIRONMENT_NOT_BUILT = "environment_not_built", "the files are there, but the lock cannot be built or installed"
    NO_INTERPRETER = "no_interpreter", "the Python of its environment is not installed here"
    TIMED_OUT = "timed_out", "ran longer than allowed, twice"
    FAILED_ASSERTION = "failed_assertion", "an assertion, a test or a stated output was not met"
    FLAKY = "flaky", "did not come out the same on every repeat"
    OTHER_OUTCOME = "other_outcome", "ended otherwise, as the column outcome tells"
    NOT_IN_SNAPSHOT = "not_in_snapshot", "the snapshot lacks what the row names, so nobody can run it"
