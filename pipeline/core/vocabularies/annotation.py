"""What annotators decide: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class QueueStatus(Term):
    PENDING = "pending", "still to be decided, by one person or by a second one"
    DRAFT = "draft", "edited, and the edit has not passed its validation"
    SUBMITTED = "submitted", "accepted, or edited with success"
    DISCARDED = "discarded", "rejected"
    CONFLICTING = "conflicting", "those who decided disagree, and nobody has settled it"


class DecisionKind(Term):
    ACCEPT = "accept", "it is right as it stands"
    REJECT = "reject", "it must not be published"
    EDIT = "edit", "it is right once this is changed"
    SKIP = "skip", "somebody else should decide"
    UNDO = "undo", "the own decision before does not count"
    COMMENT = "comment", "something to be said, without a decision"


class Objection(Term):
    """Why a person rejects a sample."""

    WRONG_VERSION = "wrong_version", "the code is not for the version that it is said to be for"
    WRONG_API = "wrong_api", "the API is not the one that the code uses"
    WRONG_CHANGE = "wrong_change", "the change did not happen, or is another one"
    NOT_VERSION_SENSITIVE = "not_version_sensitive", "the version makes no difference"
    LEAKS_ANSWER = "leaks_answer", "the answer can be read in what is shown"
    MISLEADING_DESCRIPTION = "misleading_description", "the description does not say what the code does"
    BAD_CODE = "bad_code", "the code is wrong, incomplete or of no use"
    BAD_TESTS = "bad_tests", "the tests accept wrong code, or refuse right code"
    UNSTABLE = "unstable", "it depends on time, chance or the machine"
    DUPLICATE = "duplicate", "it says what another sample says"
    LICENCE = "licence", "the licence does not allow to pass it on"
    PERSONAL_DATA = "personal_data", "it names or describes a person, or holds a secret"
    OTHER = "other", "something else, which the comment says"


class ReviewFormat(Term):
    """How reviews are written to a file, and read from one."""

    JSONL = "jsonl", "JSON lines, a sample each with its decisions"
    LABEL_STUDIO = "label_studio", "tasks of Label Studio with their annotations"
