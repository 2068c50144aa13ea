"""The families of instances, by the name of a task and by that of the table with its rows."""

from typing import Self

from pipeline.core.vocabularies.term import Term


class Family(Term):
    """What a prediction answers; what else there is to know of a family stands in its `families/NAME/family.py`."""

    table: str
    """The table of its instances, and the configuration of a snapshot; by this name a refresh is restricted to it."""
    rows: str
    """What that table holds, for the help of `--families`."""

    COMPLETION = (
        "completion",
        "masked code, with the version (VersiCode)",
        "completions",
        "code of one version with a token, line or block masked",
    )
    CONTEXT = (
        "context",
        "code before a cursor that has begun an expression (LibEvolutionEval, realistic)",
        "contexts",
        "what an editor shows around a masked token, with the documents of that version",
    )
    CONTROLLED = (
        "controlled",
        "a prompt made from a version's API documentation (LibEvolutionEval, controlled)",
        "controlled_completions",
        "a call to be written from the documentation of one version",
    )
    BLOCK_COMPLETION = (
        "block_completion",
        "masked code in another language (VersiCode)",
        "block_completions",
        "blocks of other languages, all but the imports masked",
    )
    FUNCTION = (
        "function",
        "a masked function with tests, with the version (VersiCode's executable subset)",
        "functions",
        "a function with its tests of up to four kinds, masked",
    )
    MIGRATION = (
        "migration",
        "code to be rewritten for another version (VersiCode)",
        "migrations",
        "code of one version, and of another",
    )
    COMPATIBILITY = (
        "compatibility",
        "the releases in which a program runs",
        "compatibilities",
        "a program that shows a change, and the releases in which it runs",
    )
    PROBLEM = (
        "problem",
        "a problem to be solved in a version (GitChameleon)",
        "problems",
        "a function to be written for one release, with tests",
    )
    REPOSITORY_TASK = (
        "repository_task",
        "a function's body in its project (EvoCodeBench)",
        "repository_tasks",
        "a function of a real project without its body",
    )
    SCENE = (
        "scene",
        "code at a cursor in an editor (Codev-Bench)",
        "scenes",
        "a block of such a function at a cursor",
    )

    def __new__(cls, value: str, meaning: str = "", table: str = "", rows: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning, member.table, member.rows = meaning, table, rows
        return member
