"""Task functions with tests of several kinds: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class TestKind(Term):
    """What a test of a task function looks at; VersiCode's four kinds."""

    __test__ = False  # pytest would take the name for that of a class of tests

    RETURN_TYPE = "return_type", "of what type the result is"
    NORMAL_INPUT = "normal_input", "an ordinary input, and what it gives"
    BOUNDARY_VALUES = "boundary_values", "an input at an edge: empty, zero, negative, or one that must raise"
    FUNCTIONALITY = "functionality", "what the function is for, with a further input"


class FunctionRun(Term):
    TESTS = "tests", "the reference in its version, with its tests"
    EMPTIED = "emptied", "in this version, the program whose functions do nothing, with its tests"
    OTHER_EXAMPLE = "other_example", "in this version, what another version's example writes for the same inputs"
    OTHER_CODEMOD = "other_codemod", "in this version, what a codemod makes of the reference for another version"
    OTHER_THERE = (
        "other_there",
        "in the other version, what is taken to be right for it, with the tests; any API of the library will do",
    )
    OTHER_ANY_API = "other_any_api", "in this version, the same with tests for which any API will do"
    REFERENCE_ELSEWHERE = "reference_elsewhere", "the reference in the other version, with the tests"
    OTHER_RELEASE = "other_release", "the reference in any other release, with the tests"
