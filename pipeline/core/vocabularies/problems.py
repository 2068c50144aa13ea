"""Version-conditioned problems: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class ProblemRun(Term):
    VISIBLE = "visible", "the reference in its version, with the visible test"
    HIDDEN = "hidden", "the reference in its version, with the hidden tests"
    OTHER_EXAMPLE = "other_example", "in this version, what the other version's example writes for the same inputs"
    OTHER_CODEMOD = "other_codemod", "in this version, what a codemod makes of the reference for the other version"
    OTHER_MODEL = "other_model", "in this version, what a model writes for the other version"
    OTHER_THERE = (
        "other_there",
        "in the other version, what is taken to be right for it, with the hidden tests; any API of the library will do",
    )
    OTHER_ANY_API = "other_any_api", "in this version, the same with hidden tests for which any API will do"
    REFERENCE_ELSEWHERE = "reference_elsewhere", "the reference in the other version, with the hidden tests"
    OTHER_RELEASE = "other_release", "the reference in any other release, with the visible and the hidden tests"


OTHER_CODE = (ProblemRun.OTHER_EXAMPLE, ProblemRun.OTHER_CODEMOD, ProblemRun.OTHER_MODEL)
"""What is right for the other version, run in the row's own; runs of functions have the same names."""


class InputChange(Term):
    """How another input is made of one that an example states."""

    REVERSED = "reversed", "a list or tuple backwards"
    SHORTENED = "shortened", "a text, bytes, list or tuple without its last item"
    CUT_IN_FRONT = "cut_in_front", "a text, bytes, list or tuple without its first item"
    REPEATED = "repeated", "a text, bytes, list or tuple twice in a row"
    EMPTIED = "emptied", "an empty text, bytes, list, tuple or dictionary"
    INCREASED = "increased", "a number plus one, or a text with its last number plus one"
    FIRST_INCREASED = "first_increased", "a text with its first number plus one"
    DOUBLED = "doubled", "a number times two"
    NEGATED = "negated", "a number with the other sign"
    FLIPPED = "flipped", "True for False, and False for True"
    ZEROED = "zeroed", "zero for a number"
