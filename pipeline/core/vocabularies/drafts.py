"""What a model is asked for, and what may become of it: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class DraftKind(Term):
    DESCRIPTION = "description", "what code does, without the hidden name"
    INSTRUCTION = "instruction", "what an expression is to do, without its name and arguments"
    REQUIREMENT = "requirement", "what a function of a project is to do, and its parameters"
    TASK_FUNCTION = "task_function", "a function with complete imports, made of a snippet"
    FUNCTION_TESTS = "function_tests", "tests of a task function, by kind"
    PROBLEM = "problem", "a problem that a change between two releases decides"
    MIGRATED_CODE = "migrated_code", "code rewritten for another release, where no codemod can"
    RENAME_JUDGEMENT = "rename_judgement", "whether a removed and an introduced API are the same one renamed"


class DraftStatus(Term):
    """How a row stands with a model, from the strongest to the weakest."""

    WRITTEN = "written", "a model wrote it, and it was accepted"
    WAITING = "waiting", "a model was asked and has not answered yet"
    REFUSED = "refused", "nothing that a model wrote for it was accepted"
    REDACTED = "redacted", "a name had to be cut out of the text that stands there"
    MISSING = "missing", "nothing stands there, and no model has been asked"
