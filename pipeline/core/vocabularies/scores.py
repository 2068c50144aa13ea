"""Scores of predictions: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class Metric(Term):
    EM = "em", "EM@k: a token equals the core token, a line or block has it as a whole word"
    ISM = "ism", "ISM@k: share of the reference's identifiers that the prediction begins with"
    PM = "pm", "PM@k: share of the reference's tokens that the prediction begins with"
    ISM_PUBLISHED = "ism_published", "ISM (code): best common prefix of any two names, in characters, of the longer one"
    PM_PUBLISHED = "pm_published", "PM (code): best common prefix of any two lines, in names, of the longer one"
    CDC = "cdc", "CDC@k: all five rules of the critical diff check hold"
    CDC_CORE_TOKEN = "cdc_core_token", "CDC rule 1: the core token is there"
    CDC_VALID = "cdc_valid", "CDC rule 2: the code is valid"
    CDC_ARGUMENTS = "cdc_arguments", "CDC rule 3: as many arguments; of references that call the core token"
    CDC_WITH = "cdc_with", "CDC rule 4: a with statement; of references that have one"
    CDC_KEYWORDS = "cdc_keywords", "CDC rule 5: the same keyword arguments; of references whose call has some"
    RELEASES = "releases", "Releases@k: the compatible releases are named, and no others"
    API_F1 = "api_f1", "API F1: F1 of the API expressions; of references that have some"
    IDENTIFIER_F1 = "identifier_f1", "Identifier F1: F1 of the sets of identifiers, arguments too"
    API_HIT = "api_hit", "API hit rate: all APIs are called that the reference calls; of references that call some"
    RECALL = "recall", "Recall@k: share of the reference's dependencies that are named; of references that have some"
    MRR = "mrr", "MRR: reciprocal rank of the core API's own document of that version"
    PASS = "pass", "Pass@k: it ran, and outputs or tests are those of the reference"
    PASS_VISIBLE = "pass_visible", "Pass@k visible: it ran, and the visible test held"


class Facet(Term):
    """By what scores are broken down."""

    FAMILY = "family", "all of a family"
    LIBRARY = "library", "the library"
    GRANULARITY = "granularity", "how much is masked"
    SOURCE = "source", "where the code comes from"
    TAG = "tag", "LibEvolutionEval tag of the core API at that version"
    LIFECYCLE = "lifecycle", "VersiCode tag of the core API at that version"
    ACCESS = "access", "direct or indirect"
    YEAR = "year", "year of the release that the reference is right for"
    DIRECTION = "direction", "upgrade or downgrade"
    PATTERN = "pattern", "major or minor on each side"
    BASIS = "basis", "what connects the two sides"
    CATEGORY = "category", "GitChameleon category of the change"
    DISCRIMINATING = "discriminating", "whether code that is right in one version fails in the other"
    LANGUAGE = "language", "programming language"
    SCENE = "scene", "scene of Codev-Bench"
    BLOCK_TYPE = "block_type", "syntactic kind of the block"
    TYPE = "type", "function or method"


class Exclusion(Term):
    """Why a prediction, or a task, is in no figure, or not in all."""

    NOT_A_PREDICTION = "not_a_prediction", "the line is no prediction: not one JSON object with the fields of one"
    LINE_TOO_LONG = "line_too_long", "the line is longer than the rules allow"
    UNKNOWN_ID = "unknown_id", "the snapshot has no task of this id and family"
    NOT_IN_VIEW = "not_in_view", "the view leaves the task out"
    WITHDRAWN = "withdrawn", "an erratum of the snapshot took the task back, or replaced it"
    AMBIGUOUS_ID = "ambiguous_id", "tasks of several families have this id, and the line does not say which"
    DUPLICATE_ID = "duplicate_id", "several lines answer the same task; none of them counts"
    NO_SAMPLES = "no_samples", "the list of completions, or of documents, is empty"
    TOO_MANY_SAMPLES = "too_many_samples", "more samples than the rules allow"
    SAMPLE_TOO_LONG = "sample_too_long", "a sample is longer than the rules allow; it counts as an empty one"
    NOT_PREDICTED = "not_predicted", "a task of a family that was answered, without an answer"
    NO_DOCUMENT = "no_document", "no MRR: the snapshot has no document of the API in that version to be found"
    NOT_RUNNABLE = "not_runnable", "no Pass@k: the reference was not run by itself, as part of a project"
    TESTS_NOT_PARTED = "tests_not_parted", "no Pass@k: what tests expect cannot be kept from the process of the answer"
    EMPTY_PASSES = "empty_passes", "no Pass@k: an empty answer passes too"
    NO_ENVIRONMENT = "no_environment", "no Pass@k: the environment is not in the snapshot, or cannot be made here"
    NOT_JUDGED = "not_judged", "no Pass@k yet: the harness or the machine failed, twice, before the answer ran"
