"""The families of rows that a refresh can be restricted to."""

from pipeline.core.vocabularies.term import Term


class RowFamily(Term):
    """A family of published rows, by the name of its configuration."""

    COMPLETIONS = "completions", "code of one version with a token, line or block masked"
    MIGRATIONS = "migrations", "code of one version, and of another"
    BLOCK_COMPLETIONS = "block_completions", "blocks of other languages, all but the imports masked"
    CONTEXTS = "contexts", "what an editor shows around a masked token, with the documents of that version"
    CONTROLLED_COMPLETIONS = "controlled_completions", "a call to be written from the documentation of one version"
    PROBLEMS = "problems", "a function to be written for one release, with tests"
    FUNCTIONS = "functions", "a function with its tests of up to four kinds, masked"
    REPOSITORY_TASKS = "repository_tasks", "a function of a real project without its body"
    SCENES = "scenes", "a block of such a function at a cursor"
