"""Prompts: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class PromptInput(Term):
    """Inputs that a setting adds to a prompt; templates test for them by these names."""

    VERSION = "version", "the version of the library"
    IMPORTS = "imports", "the imports of the masked code"
    BM25 = "bm25", "the documents of the version that BM25 found"
    EMBEDDING = "embedding", "the documents of the version that the embedding found"
    DOCUMENTS = "documents", "the documents of the APIs that the reference uses, as of the version"
    OUTPUTS = (
        "outputs",
        "what the program displays, unless comments have all of it or a name that is asked for cannot be masked in it",
    )
    ATTEMPT = "attempt", "an answer that failed, and the trace of the visible test"
    CONTEXTS_ABOVE = "contexts_above", "the file above the function"
    CONTEXTS_BELOW = "contexts_below", "the file below the function"


class NoPrompt(Term):
    """Why a row has no prompt in a setting."""

    LEAKS_ANSWER = "leaks_answer", "the hidden name could be read in it"
    NO_DOCUMENT = "no_document", "there is no document to put into it"
    NO_ATTEMPT = "no_attempt", "no failed answer to it was given"
    NOT_IN_VIEW = "not_in_view", "the view leaves it out"
    UNREADABLE = "unreadable", "its code cannot be parted into statements, so imports cannot be left out"
