"""Snapshots and what becomes of their rows: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class ErratumReason(Term):
    REFUSED = "refused", "a stage refuses it now"
    REVIEWED_OUT = "reviewed_out", "a person has rejected it"
    REPLACED = "replaced", "its content was wrong or has changed; the successor stands at its place"
    NO_LONGER_RUNS = "no_longer_runs", "run again in its locked environment, it no longer came out as it had"
    SOURCE_GONE = "source_gone", "the release, project or code that it was made from is no longer taken"
    NOT_MADE = "not_made", "nothing makes it any more, and nothing refused it by name"
    CORRECTED = "corrected", "the row stands, and what it says is another now"


class Rebuilding(Term):
    SAME = "same", "made again from what it says that it comes from, it is the same, byte by byte"
    PART = "part", "what can be made again is the same; the rest is what a run, a person or a model gave"
    DIFFERS = "differs", "made again, it is another"
    NOT_REBUILT = "not_rebuilt", "it cannot be made again from a snapshot and its sources, or they are not at hand"


class NotDiscriminating(Term):
    """Why a row does not tell releases apart; the first that holds."""

    API_UNCHANGED = "api_unchanged", "the API is as in the version before, and the row is about no change"
    NOT_RUN = "not_run", "nothing was run in another release"
    PASSES = "passes", "the code, or the probe of the API, passes in both releases"
    OTHER_FAILURE = "other_failure", "a run fails there, but not because an API or a parameter is missing"
    NAME_KNOWN = (
        "name_known",
        "a run fails there, but the name needs no knowledge of this release: the text spells it, the other release has"
        " it too, or anybody would choose it",
    )
    NOT_MASKED = "not_masked", "a run fails there, but the mask may hide a part that did not change"
