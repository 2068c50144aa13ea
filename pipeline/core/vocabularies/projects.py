"""Projects whose own tests are run, and their functions: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class ProjectOutcome(Term):
    TRACED = "traced", "its tests ran, and what each of them reaches is known"
    NO_SDIST = "no_sdist", "the index lists no source distribution of the release"
    TOO_LARGE = "too_large", "the source distribution is larger than the rule allows"
    BAD_ARCHIVE = "bad_archive", "the source distribution is damaged, not the one that the index states, or unsafe"
    LICENCE = "licence", "its licence does not allow to pass its code on, or none can be read: its tests are not run"
    NO_TESTS = "no_tests", "the source distribution holds no tests"
    NO_ENVIRONMENT = "no_environment", "the release cannot be installed with what its tests ask for"
    NOT_COLLECTED = "not_collected", "pytest does not come to its tests: they do not import, or are none for pytest"
    NONE_PASSED = "none_passed", "no test passed on every repeat"
    TIMED_OUT = "timed_out", "its tests took longer than the rule allows"
    NOTHING_REACHED = "nothing_reached", "no test that passed reaches a function of the project"


class TestOutcome(Term):
    __test__ = False  # for pytest, which takes a class of such a name for tests

    PASSED = "passed", "passed"
    FAILED = "failed", "failed, or raised what it should not"
    ERROR = "error", "what is made for the test, or cleared up after it, raised; or its file could not be imported"
    SKIPPED = "skipped", "skipped, or expected to fail and did"
    TIMED_OUT = "timed_out", "took longer than allowed"
    NOT_RUN = "not_run", "not found, or the run ended before it"


class FunctionType(Term):
    FUNCTION = "function", "a function of a module"
    METHOD = "method", "a function of a class"


class RequirementBasis(Term):
    DOCSTRING = "docstring", "the function's own docstring"
    MODEL = "model", "written by a language model from the function's code, and checked"
