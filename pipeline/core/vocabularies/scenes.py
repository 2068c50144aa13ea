"""Editor scenes: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class Scene(Term):
    """What a developer has before and below the cursor, by the numbers of Codev-Bench."""

    WHOLE_BLOCK = "1.1", "a whole block is to be written; all that stands around it is there"
    FUNCTION_EMPTY_BELOW = "1.2", "a whole block is to be written; the rest of its function is not there yet"
    NOTHING_BELOW = "1.3", "a whole block is to be written; nothing stands below the cursor"
    PART_OF_BLOCK = "2.1", "the header of a block is there, and what is inside is to be written"
    COMPLETE_BLOCK = "2.2", "the block before the cursor is complete, and nothing is to be written"
    OTHER_FILES = "3", "a whole block is to be written that runs code of other files of the project"
    SIMILAR_CODE = "4", "a whole block is to be written that is like a block elsewhere in the project"


class BlockType(Term):
    FUNCTION = "function", "the body of a function or method, below its docstring"
    PARAMETERS = "parameters", "what stands between the parentheses of a function's signature"
    CLASS = "class", "the body of a class inside a function, below its docstring"
    IF = "if", "an if statement with its branches"
    ELIF = "elif", "one elif branch"
    ELSE = "else", "the else branch of an if, a loop or a try"
    FOR = "for", "a for loop"
    WHILE = "while", "a while loop"
    WITH = "with", "a with statement"
    TRY = "try", "a try statement with its handlers"
    EXCEPT = "except", "one handler of a try"
    FINALLY = "finally", "the finally branch of a try"
    MATCH = "match", "a match statement with its cases"
    CASE = "case", "one case of a match"
    STATEMENT = "statement", "a statement without a body of its own, such as an assignment, a call or a return"
    COMMENT = "comment", "a comment; no longer made, since no test can judge one, but in snapshots before 2026-11-28"


BODIES = frozenset({BlockType.FUNCTION, BlockType.CLASS})
"""Blocks that are all of what is indented in one place, and not one statement or clause."""
