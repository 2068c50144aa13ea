"""Files of the benchmarks: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class ExportFormat(Term):
    VERSICODE = "versicode", "VersiCode: completions and migrations as JSON"
    LIBEVOLUTIONEVAL = "libevolutioneval", "LibEvolutionEval: completions in their files and API documents by version"
    GITCHAMELEON = "gitchameleon", "GitChameleon 2.0: problems and files of hidden tests"
    EVOCODEBENCH = "evocodebench", "EvoCodeBench: repository tasks and the sources of their projects"
    CODEVBENCH = "codevbench", "Codev-Bench: editor scenes and the sources of their projects"
    HARBOR = "harbor", "Harbor: a folder a task, with its environment, its oracle and a verifier; written, not read"


class Unsupported(Term):
    """Why a format does not support a row."""

    CONTROL_NOT_RUN = "control_not_run", "whether an empty answer fails could not be found out"
    EMPTY_PASSES = "empty_passes", "its tests do not notice an empty answer"
    MASK_IN_CODE = "mask_in_code", "the code itself contains the mask of the format"
    NOT_RUNNABLE = "not_runnable", "no environment, or no verdict of a run judges its answers"
    NO_PROMPT = "no_prompt", "the setting of its family has no prompt for it"
    SAME_NAME = "same_name", "this name alone identifies records, and a newer release of the project has it"
    SOURCES_MISSING = "sources_missing", "the sources of the project are not available"
