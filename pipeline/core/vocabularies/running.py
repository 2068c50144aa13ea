"""Environments and runs: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class EnvironmentOutcome(Term):
    BUILT = "built", "resolved, installed, and the library imports"
    NO_INTERPRETER = "no_interpreter", "no installed Python fits the release"
    NO_FILES = "no_files", "the release has no file that can be installed here"
    UNRESOLVABLE = "unresolvable", "no set of dependencies fits as of the cut-off"
    BUILD_FAILED = "build_failed", "a source distribution could not be built"
    INSTALL_FAILED = "install_failed", "the pinned files could not be installed"
    MISSING_SYSTEM_LIBRARY = "missing_system_library", "a compiled module needs a library that this system lacks"
    IMPORT_FAILED = "import_failed", "installed, but the library does not import"
    NO_SPACE = "no_space", "the disk is full"
    TIMED_OUT = "timed_out", "a step took longer than the rule allows"


class Rung(Term):
    WHEELS = "wheels", "wheels only, as of the cut-off"
    BUILDS = "builds", "source distributions are built too, as of the cut-off"
    ONE_LATER = "one_later", "as of the cut-off, but for one dependency that fails: a later wheel of that one"
    WHEELS_LATER = "wheels_later", "wheels only, as of 180 days after the cut-off"
    BUILDS_LATER = "builds_later", "source distributions are built too, as of 180 days after the cut-off"


class VerdictRole(Term):
    REFERENCE = "reference", "a snippet in its own version"
    OTHER_VERSION = "other_version", "a snippet in another version of its library"
    PROBE = "probe", "import the API's path and nothing else"


class Outcome(Term):
    PASSED = "passed", "ran to its end, and every stated output was met"
    FAILED_ASSERTION = "failed_assertion", "an assertion or a stated output was not met"
    WRONG_EXCEPTION = "wrong_exception", "ended with an exception"
    UNDEFINED_NAME = "undefined_name", "uses a name that nothing defines: an incomplete example"
    IMPORT_ERROR = "import_error", "a module could not be imported"
    API_MISSING = "api_missing", "the library has no such name"
    SIGNATURE_MISMATCH = "signature_mismatch", "the call does not fit the signature"
    SYNTAX_ERROR = "syntax_error", "does not compile on this Python"
    TIMED_OUT = "timed_out", "ran longer than allowed"
    OUT_OF_MEMORY = "out_of_memory", "wanted more memory than allowed"
    SANDBOX_VIOLATION = "sandbox_violation", "tried what the sandbox forbids, or was killed"
    FLAKY = "flaky", "did not come out the same on every repeat"
    HARNESS_ERROR = "harness_error", "could not be judged"
    NO_ENVIRONMENT = "no_environment", "not run: its release could not be installed"
    BAD_SAMPLE = "bad_sample", "the sample itself cannot be read, asks for what does not exist, or tests nothing"


class Process(Term):
    FRESH = "fresh", "each case in a new sandbox and a new interpreter"
    FORK = "fork", "cases of one environment as forks of one process that has imported the library"


class Variation(Term):
    HASH_SEED = "hash_seed", "another seed of Python's hashes, so another order of sets"
    RANDOM_SEED = "random_seed", "another seed of random numbers, also of numpy and torch"
    ORDER = "order", "the tests of a module backwards"
    CLOCK = "clock", "a later day, as far as Python's own clock functions tell"
