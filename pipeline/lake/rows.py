"""The types of the rows of every table, made from `schemas/` by `make rows`: change those, not this file.

A term of a vocabulary is a `str` here: what was read from disk is plain text, and every `Term` is one. The rows of a
library are in `Tables` by the names of their tables: a stage gets those that it reads, and gives those that it writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict, TypeVar, overload

import pyarrow.compute as pc

AnyRow = Mapping[str, Any]
"""A row of whichever table: for what treats all tables alike."""

R = TypeVar("R", bound=AnyRow)
"""Rows of one table, whichever that is."""


class InstanceHead(TypedDict):
    """What several tables have in common: `_instance_head.yaml`."""

    id: str
    library: str
    version: str
    release_time: datetime
    previous_version: str | None
    snippet_id: str
    path: str
    change_id: str | None
    versicode_tag: str  # VersiCodeTag
    libevolutioneval_tag: str  # LibEvolutionEvalTag

class ProblemHead(TypedDict):
    """What several tables have in common: `_problem_head.yaml`."""

    id: str
    library: str
    version: str
    release_time: datetime
    previous_version: str | None
    snippet_id: str | None
    path: str
    change_id: str | None
    versicode_tag: str  # VersiCodeTag
    libevolutioneval_tag: str  # LibEvolutionEvalTag

class PublishedTail(TypedDict):
    """What several tables have in common: `_published_tail.yaml`."""

    description: str | None
    drafter: str | None  # Drafter
    model: str | None
    prompt_sha256: str | None
    source: str  # SnippetSource
    version_evidence: str  # VersionEvidence
    version_statement: str | None
    origin: str
    url: str | None
    source_file: str
    source_line: int
    created_time: datetime
    purl: str | None
    licence: str | None
    attribution: str | None
    flags: Sequence[str]  # FlagKind
    review_status: str  # ReviewStatus
    canary: str

class ApiDocumentDocumentedParameter(TypedDict):
    """A struct of the table `api_documents`."""

    name: str
    type: str | None
    mandatory: bool | None
    default: str | None
    description: str | None

class ApiDocumentResult(TypedDict):
    """A struct of the table `api_documents`."""

    name: str | None
    type: str | None
    description: str | None

class ApiDocumentStatement(TypedDict):
    """A struct of the table `api_documents`."""

    directive: str  # DirectiveKind
    owner: str  # DirectiveOwner
    name: str | None
    stated_version: str | None
    text: str

class ApiDocumentState(TypedDict):
    """A row of `api_documents` before it is known in which releases it holds."""

    id: str
    path: str
    canonical_path: str | None
    kind: str  # SymbolKind
    signature: str | None
    parameters: Sequence[ApiDocumentDocumentedParameter]
    description: str
    returns: Sequence[ApiDocumentResult]
    examples: Sequence[str]
    directives: Sequence[ApiDocumentStatement]
    source: str  # DocumentSource
    url: str | None

class ApiDocumentRow(ApiDocumentState):
    """What the documentation says of one public API, by parts, with the run of releases in which it says the same: the page of the documentation site of that version where there is one, else the docstring."""

    library: str
    first_version: str
    last_version: str | None

class BlockCompletionRow(TypedDict):
    """A block of code in another language than Python whose post names the version of a library, with all but its imports masked (VersiCode's block-level completion)."""

    id: str
    library: str
    version: str
    language: str  # Language
    snippet_id: str
    code: str
    masked_code: str
    answer: str
    core_token: str

class ChangeRow(TypedDict):
    """One change of one API between two consecutive releases."""

    id: str
    library: str
    old_version: str
    new_version: str
    path: str
    canonical_path: str
    kind: str  # ChangeKind
    parameter: str | None
    old: str | None
    new: str | None
    breaking: bool
    reach: str  # Reach
    griffe_kind: str | None
    replacement: str | None
    confidence: float
    evidence: str  # Evidence
    versicode_tag: str  # VersiCodeTag
    libevolutioneval_tag: str  # LibEvolutionEvalTag
    gitchameleon_category: str | None  # GitChameleonCategory

class CodeSampleRow(TypedDict):
    """A file, or a block of a post or page, of others that may use a library, with how the version is known."""

    id: str
    library: str
    version: str
    source: str  # SnippetSource
    version_evidence: str  # VersionEvidence
    version_statement: str
    origin: str
    place: str
    url: str
    file: str
    line: int
    text: str
    language: str  # Language
    created_time: datetime
    licence: str | None
    attribution: str | None
    title: str | None
    score: int | None
    accepted: bool | None

class CompatibilityRow(TypedDict):
    """A program of which running shows a change of a library, with the releases that were tried: which of them is it right for? An answer takes knowledge of when the change came."""

    id: str
    library: str
    version: str
    release_time: datetime
    path: str
    change_id: str | None
    snippet_id: str
    code: str
    output: str
    releases: Sequence[str]
    compatible: Sequence[str]
    outcomes: Sequence[str]  # Outcome
    python: str
    lock_id: str

class CompletionRow(InstanceHead):
    """A piece of real code with library- and version-sensitive content masked (VersiCode's version-specific code completion)."""

    usage_id: str
    granularity: str  # Granularity
    code: str
    masked_code: str
    answer: str
    core_token: str
    access: str  # Access

class ControlledCompletionRow(TypedDict):
    """A completion made from the document of an API in a version by a template, which tells what the API does, where it belongs and its mandatory arguments, and not its name (LibEvolutionEval's controlled scenario)."""

    id: str
    library: str
    version: str
    release_time: datetime
    previous_version: str | None
    path: str
    kind: str  # SymbolKind
    document_id: str
    change_id: str | None
    versicode_tag: str  # VersiCodeTag
    libevolutioneval_tag: str  # LibEvolutionEvalTag
    access: str  # Access
    service: str
    description: str
    redacted: bool
    mandatory_arguments: Sequence[str]
    left_context: str
    hint: str
    reference_call: str
    core_token: str

class DirectiveState(TypedDict):
    """A row of `directives` before it is known in which releases it holds."""

    id: str
    path: str
    canonical_path: str
    directive: str  # DirectiveKind
    owner: str  # DirectiveOwner
    parameter: str | None
    attribute: str | None
    stated_version: str | None
    text: str
    found_version: str | None
    agreement: str  # Agreement
    disagreement: str | None  # Disagreement

class DirectiveRow(DirectiveState):
    """One statement of a version in the documentation of a public API path, with the run of releases that have it, and whether it agrees with what the comparison of the releases found."""

    library: str
    first_version: str
    last_version: str | None

class DocumentState(TypedDict):
    """A row of `documents` before it is known in which releases it holds."""

    path: str
    canonical_path: str
    docstring: str
    file: str
    line: int

class DocumentRow(DocumentState):
    """The documentation of one public API path, with the run of releases in which its text is the same."""

    library: str
    first_version: str
    last_version: str | None

class DraftRow(TypedDict):
    """A text that a model or the offline drafter wrote for a subject."""

    id: str
    library: str
    subject_id: str
    field: str  # DraftField
    text: str
    redacted: bool
    drafter: str  # Drafter
    model: str | None
    prompt_sha256: str
    tokens: int | None
    nano_usd: int | None

class EnvironmentAttempt(TypedDict):
    """A struct of the table `environments`."""

    python: str
    rung: str  # Rung
    cutoff: datetime
    moved: str | None
    outcome: str  # EnvironmentOutcome
    detail: str | None
    missing: str | None

class EnvironmentRow(TypedDict):
    """A resolved and hashed lock of a release for a Python, as of a date, and what came of building it."""

    library: str
    version: str
    outcome: str  # EnvironmentOutcome
    python: str | None
    python_full: str | None
    cutoff: datetime | None
    rung: str | None  # Rung
    moved: str | None
    lock_id: str | None
    lock: str | None
    import_names: Sequence[str]
    detail: str | None
    missing: str | None
    attempts: Sequence[EnvironmentAttempt]
    build_s: float | None

class ErratumRow(TypedDict):
    """What an earlier snapshot said and this one does not say any more, with the reason. The rows themselves stand in the split `deprecated` of their configuration."""

    config: str
    row_id: str
    library: str
    version: str
    last_snapshot: str
    reason: str  # ErratumReason
    stage: str | None
    reject_reason: str | None  # RejectReason
    detail: str
    successor_id: str | None
    kept: bool
    restored: bool

class ExcludedPredictionRow(TypedDict):
    """A prediction, or a task, that is in no figure of a scoring, or not in all; written by `driftline score`."""

    line: int | None
    id: str | None
    reason: str  # Exclusion
    detail: str

class FlagRow(TypedDict):
    """Why a person should look at an instance."""

    id: str
    library: str
    instance_id: str
    kind: str  # FlagKind
    evidence: str

class FunctionRunRow(TypedDict):
    """One run of the tests of a task function with a program in one pinned environment."""

    id: str
    function_id: str
    library: str
    version: str
    role: str  # FunctionRun
    program: str | None
    outcome: str  # Outcome
    python: str
    lock_id: str
    detail: str | None
    statements: int | None
    executed: int | None
    duration_s: float

class FunctionRow(InstanceHead):
    """A function to be written, complete with imports, with tests of several kinds to be run in the version it is right for (VersiCode's executable subset)."""

    code: str
    function: str
    parameters: Sequence[str]
    core_token: str
    core_start_byte: int
    core_end_byte: int
    access: str  # Access
    redacted: bool
    tests: str
    module: str
    accepted_paths: Sequence[str]
    return_type: int
    normal_input: int
    boundary_values: int
    functionality: int
    missing_test_kinds: Sequence[str]  # TestKind
    recorded_tests: int
    other_version: str | None
    code_drafter: str  # Drafter
    code_model: str | None
    code_prompt_sha256: str | None
    tests_drafter: str  # Drafter
    tests_model: str | None
    tests_prompt_sha256: str | None
    tokens: int | None
    nano_usd: int | None
    description: str | None
    drafter: str | None  # Drafter
    model: str | None
    prompt_sha256: str | None
    mutants: int
    mutants_killed: int
    mutants_equivalent: int
    mutation_score: float | None

class JudgementRow(TypedDict):
    """What a model says of an API that went with a release and one that came with it: whether they are one under two paths. Evidence for a person who looks, and no proof. Empty where no model drafts."""

    id: str
    library: str
    old_version: str
    new_version: str
    path: str
    new_path: str
    kind: str  # ChangeKind
    confidence: float
    change_id: str | None
    same: str  # Same
    reason: str
    drafter: str  # Drafter
    model: str
    prompt_sha256: str
    tries: int
    tokens: int
    nano_usd: int

class LifecycleState(TypedDict):
    """A row of `lifecycles` before it is known in which releases it holds."""

    path: str
    kind: str  # SymbolKind
    introduced_in: str | None
    removed_in: str | None
    deprecated_in: str | None
    replacement: str | None
    modified_in: Sequence[str]

class LifecycleRow(LifecycleState):
    """One unbroken life of a public API path over the releases that the lake holds."""

    library: str
    first_version: str
    last_version: str | None

class LineCoverageRow(TypedDict):
    """A test that passes and reaches a function, with the lines of that function that it executes; the same on every repeat."""

    function_id: str
    library: str
    test: str
    lines: Sequence[int]

class MigrationRow(InstanceHead):
    """The same task in two versions of a library (VersiCode's version-aware code migration). Where the basis is model, a model wrote what is said to be a codemod's."""

    pair_id: str
    target_version: str
    target_release_time: datetime
    target_snippet_id: str
    source_rewrite_id: str | None
    target_rewrite_id: str | None
    target_path: str
    direction: str  # Direction
    pattern: str  # VersionPattern
    basis: str  # MigrationBasis
    target_outputs: int
    source_code: str
    target_code: str
    source_name: str
    target_name: str

class MutationScoreRow(TypedDict):
    """How many mutants of the target code of migrations its stated outputs notice, in the target version."""

    id: str
    subject_id: str
    library: str
    version: str
    lock_id: str
    mutants: int
    mutants_killed: int
    mutants_equivalent: int
    mutation_score: float | None

class OtherAnswerRow(TypedDict):
    """Which other names pass the run of a completion: here, where no text tells them from what is hidden, or only in the other release."""

    id: str
    completion_id: str
    library: str
    version: str
    lock_id: str
    tried: int
    passing: Sequence[str]
    neighbour_version: str | None
    neighbour_answers: Sequence[str]

class OwnTestRow(TypedDict):
    """A case of a library's own test, cut out of the suite of a release into a program that stands alone."""

    id: str
    library: str
    version: str
    last_version: str
    test_id: str
    test: str
    case: str
    preamble: str
    code: str
    apis: Sequence[str]
    file: str
    line: int

class ProblemRunRow(TypedDict):
    """One run of the program of a problem with its tests in one pinned environment."""

    id: str
    problem_id: str
    library: str
    version: str
    role: str  # ProblemRun
    code: str | None
    outcome: str  # Outcome
    python: str
    lock_id: str
    detail: str | None
    statements: int | None
    executed: int | None
    duration_s: float

class ProblemRow(ProblemHead):
    """A programming task that a release of a library decides, with tests to be run there (GitChameleon 2.0's version-conditioned generation)."""

    problem: str
    starting_code: str
    solution: str
    test: str
    hidden_tests: str
    module: str
    stated_tests: int
    recorded_tests: int
    drafted_tests: int
    category: str | None  # GitChameleonCategory
    target_entity: str
    accepted_paths: Sequence[str]
    api_calls: Sequence[str]
    solution_api_call: bool
    additional_dependencies: Sequence[str]
    functional: bool
    webdev: bool
    documented_paths: Sequence[str]
    docs: Sequence[str]
    other_version: str | None
    written_from: str
    drafter: str | None  # Drafter
    model: str | None
    prompt_sha256: str | None
    tokens: int | None
    nano_usd: int | None
    mutants: int
    mutants_killed: int
    mutants_equivalent: int
    mutation_score: float | None

class ProjectFileRow(TypedDict):
    """A source file of a traced project that holds functions which its tests reach."""

    project_id: str
    library: str
    path: str
    sha256: str
    text: str

class ProjectRow(TypedDict):
    """A release of a project (a library, or a dependent of it) whose source distribution was unpacked and whose own tests were run, or why not."""

    id: str
    library: str
    project: str
    version: str
    release_time: datetime
    outcome: str  # ProjectOutcome
    detail: str | None
    sdist: str | None
    sha256: str | None
    size: int | None
    url: str | None
    root: str | None
    import_root: str | None
    packages: Sequence[str]
    requirements: Sequence[str]
    requirements_from: Sequence[str]
    python: str | None
    cutoff: datetime | None
    rung: str | None  # Rung
    lock_id: str | None
    lock: str | None
    import_names: Sequence[str]
    tests_collected: int
    tests_run: int
    tests_passed: int
    tests_failed: int
    tests_skipped: int
    tests_flaky: int
    functions: int
    purl: str
    project_url: str | None
    domain: str | None
    licence: str | None
    attribution: str | None
    duration_s: float | None

class PublishedContextRow(TypedDict):
    """What an editor shows around the use that a published completion of level token hides (LibEvolutionEval's in-line completion): imports + left_context + hint, the cursor, right_context. In all of these the name of the API is [token-mask]."""

    completion_id: str
    library: str
    imports: str
    left_context: str
    hint: str
    reference_call: str
    right_context: str
    right_context_few_lines: str
    masked_names: int
    in_class: bool
    version_comment: str
    query: str | None
    document_id: str | None
    query_redacted: bool
    query_drafter: str | None  # Drafter
    canary: str

class PublishedRetrievalRow(TypedDict):
    """A document of the API documentation of a completion's own version that a retriever finds for its query (LibEvolutionEval's version-aware retrieval). Documents are as published: they may name the API that is asked for."""

    completion_id: str
    library: str
    retriever: str  # RetrieverKind
    rank: int
    document_id: str
    path: str
    score: float

class RefusedDraftRow(TypedDict):
    """A text that a model was asked for, and of which no draft was accepted."""

    id: str
    library: str
    subject_id: str
    field: str  # DraftField
    problem: str
    model: str
    prompt_sha256: str
    tries: int
    tokens: int
    nano_usd: int

class RefusedFunctionRow(TypedDict):
    """A task function, or tests of one, that a model was asked for, and of which no draft was accepted."""

    id: str
    library: str
    version: str
    kind: str  # DraftKind
    snippet_id: str
    function_id: str | None
    problem: str
    model: str
    prompt_sha256: str
    tries: int
    tokens: int
    nano_usd: int

class RejectRow(TypedDict):
    """What a stage refused, with its reason; nothing disappears without a row here."""

    stage: str
    library: str
    key: str
    reason: str  # RejectReason
    detail: str

class ReleaseRow(TypedDict):
    """A final release of a library that the profile takes, with the file its API surface was read from."""

    library: str
    version: str
    release_time: datetime
    as_of: datetime | None
    predecessor: str | None
    requires_python: str | None
    artifact: str
    artifact_kind: str  # ArtifactKind
    sha256: str
    size: int
    url: str
    import_names: Sequence[str]
    licence: str | None
    licence_stated: str | None
    attribution: str | None
    purl: str

class RepositoryTaskRow(TypedDict):
    """A function of a real project to be written again, judged by the project's own tests. The body is proven to matter, since each of its tests fails without it. Lines count from 1."""

    id: str
    library: str
    project_id: str
    function_id: str
    project: str
    version: str
    release_time: datetime
    namespace: str
    type: str  # FunctionType
    class_name: str | None
    name: str
    path: str
    signature_first_line: int
    signature_last_line: int
    body_first_line: int
    body_last_line: int
    indent: int
    functionality: str
    arguments: str
    requirement_basis: str  # RequirementBasis
    intra_class: Sequence[str]
    intra_file: Sequence[str]
    cross_file: Sequence[str]
    tests: Sequence[str]
    tests_reaching: int
    coverage: float
    input_code: str
    reference: str
    contexts_above: str
    contexts_below: str
    domain: str | None
    reference_outcome: str  # TestOutcome
    emptied_outcome: str  # TestOutcome
    python: str
    lock_id: str
    mutants: int
    mutants_killed: int
    mutants_equivalent: int
    mutation_score: float | None

class ReviewEdited(TypedDict):
    """A struct of the table `reviews`."""

    name: str
    value: str

class ReviewEditRun(TypedDict):
    """A struct of the table `reviews`."""

    subject: str
    version: str
    outcome: str  # Outcome
    python: str
    lock_id: str
    detail: str | None
    code: str | None
    statements: int | None
    executed: int | None

class ReviewRow(TypedDict):
    """What people decided of an instance, as far as it is settled. It holds as long as the content that they judged is the same; who they are stays in the review database."""

    instance_id: str
    library: str
    family: str  # Family
    content: str
    flags: Sequence[str]  # FlagKind
    kind: str  # DecisionKind
    objection: str | None  # Objection
    edits: Sequence[ReviewEdited]
    runs: Sequence[ReviewEditRun]
    annotators: int

class RewriteCheck(TypedDict):
    """A struct of the table `rewrites`."""

    statement: str
    expected: str | None
    options: Sequence[str]

class RewriteEdit(TypedDict):
    """A struct of the table `rewrites`."""

    codemod: str  # Codemod
    line: int
    path: str
    parameter: str | None
    old: str | None
    new: str | None

class RewriteRow(TypedDict):
    """A snippet as codemods, or in a snapshot a model too, wrote it for another release of its library; or a piece of a project in which other packages are mocked. It counts only in a migration whose runs prove it."""

    id: str
    library: str
    version: str
    snippet_id: str
    snippet_version: str
    changes: Sequence[str]
    preamble: str
    code: str
    checks: Sequence[RewriteCheck]
    edits: Sequence[RewriteEdit]

class SceneRelated(TypedDict):
    """A struct of the table `scenes`."""

    namespace: str
    path: str
    first_line: int
    last_line: int
    code: str
    similarity: float | None

class SceneRow(TypedDict):
    """A block of a function that a project's tests reach, as a developer meets it in an editor (Codev-Bench), with what came of running the tests."""

    id: str
    project_id: str
    function_id: str
    library: str
    project: str
    version: str
    scene: str  # Scene
    block_type: str  # BlockType
    block_key: str
    func_name: str
    namespace: str
    path: str
    middle_start: int
    middle_end: int
    suffix_start: int
    middle: str
    related: Sequence[SceneRelated]
    unit_test_ids: Sequence[str]
    tests_reaching: int
    wrong_answer: str
    noticed_by: Sequence[str]
    mutants: int
    mutants_killed: int
    mutants_equivalent: int
    mutation_score: float | None

class ScoreRow(TypedDict):
    """What predictions for a snapshot came to, a figure for each metric, k and group of tasks; written by `driftline score`."""

    family: str  # Family
    metric: str  # Metric
    k: int
    facet: str  # Facet
    value: str
    mean: float | None
    low: float | None
    high: float | None
    tasks: int
    samples: int
    short: int
    open: int

class SnippetCheck(TypedDict):
    """A struct of the table `snippets`."""

    statement: str
    expected: str | None
    options: Sequence[str]

class SnippetRow(TypedDict):
    """A piece of real code that uses a library at a known version."""

    id: str
    library: str
    version: str
    last_version: str
    path: str | None
    language: str  # Language
    source: str  # SnippetSource
    style: str  # SnippetStyle
    version_evidence: str  # VersionEvidence
    version_statement: str | None
    preamble: str
    code: str
    checks: Sequence[SnippetCheck]
    example_of: Sequence[str] | None
    redacted: int
    comments_removed: int
    origin: str
    place: str
    url: str | None
    title: str | None
    score: int | None
    accepted: bool | None
    file: str
    line: int
    created_time: datetime
    licence: str | None
    attribution: str | None
    purl: str | None

class StageStateRow(TypedDict):
    """How each stage left a library when it last succeeded; written last, so that a stage is done or to be done again."""

    library: str
    stage: str
    state: str

class SurvivalRow(TypedDict):
    """A published row of an earlier snapshot whose reference was run again in its locked environment, and whether it still passed. Rows are added and never changed, so one row of a snapshot has one for each period in which it was looked at."""

    snapshot: str
    manifest_sha256: str
    period: str
    day: str
    family: str  # Family
    instance_id: str
    library: str
    version: str
    survives: bool
    reason: str | None  # Loss
    outcome: str | None  # Outcome
    detail: str | None
    probed: bool
    lock_ids: Sequence[str]
    yanked: Sequence[str]
    drawn_share: float

class SymbolParameter(TypedDict):
    """A struct of the table `symbols`."""

    name: str
    kind: str  # ParameterKind
    default: str | None
    annotation: str | None
    known_from: str  # ParameterSource
    deprecation: SymbolParameterDeprecation | None

class SymbolParameterDeprecation(TypedDict):
    """A struct of the table `symbols`."""

    what: str  # ParameterDeprecation
    since: str | None
    removal: str | None
    replacement: str | None

class SymbolDeprecation(TypedDict):
    """A struct of the table `symbols`."""

    channel: str  # DeprecationChannel
    since: str | None
    removal: str | None
    message: str | None
    replacement: str | None

class SymbolState(TypedDict):
    """A row of `symbols` before it is known in which releases it holds."""

    path: str
    canonical_path: str
    kind: str  # SymbolKind
    public_because: str  # PublicBecause
    parameters: Sequence[SymbolParameter]
    returns: str | None
    value: str | None
    bases: Sequence[str]
    decorators: Sequence[str]
    labels: Sequence[str]
    overloads: Sequence[str]
    docstring_sha256: str | None
    docstring_sketch: Sequence[int]
    body_sketch: Sequence[int]
    deprecation: SymbolDeprecation | None
    file: str
    source: str  # SourceKind

class SymbolRow(SymbolState):
    """One state of one public API path, with the first and the last consecutive release that has it unchanged."""

    library: str
    first_version: str
    last_version: str | None

class TracedFunctionRow(TypedDict):
    """A function or method of a project that its own tests reach, where it stands, and which other definitions of the project it was seen to use. Lines count from 1."""

    id: str
    project_id: str
    library: str
    version: str
    path: str
    namespace: str
    type: str  # FunctionType
    class_name: str | None
    name: str
    signature_first_line: int
    signature_last_line: int
    body_first_line: int
    body_last_line: int
    indent: int
    docstring: str | None
    intra_class: Sequence[str]
    intra_file: Sequence[str]
    cross_file: Sequence[str]
    tests: int
    executed_lines: Sequence[int]

class UnsupportedRowRow(TypedDict):
    """A row of a snapshot that a benchmark's format does not support, as a line of unsupported_columns.jsonl of an export. Lines with `columns` are of rows that it supports in part."""

    table: str
    id: str
    reason: str  # Unsupported
    detail: str

class UsageRow(TypedDict):
    """One use of one public API in a snippet."""

    id: str
    snippet_id: str
    library: str
    version: str
    path: str
    name: str
    start_byte: int
    end_byte: int
    name_start_byte: int
    name_end_byte: int
    line: int
    access: str  # Access
    form: str  # UsageForm
    keywords: Sequence[str]

class VerdictRow(TypedDict):
    """One run of one piece of code in one pinned environment."""

    id: str
    subject_id: str
    library: str
    version: str
    role: str  # VerdictRole
    outcome: str  # Outcome
    python: str
    lock_id: str
    detail: str | None
    observation: str | None
    duration_s: float
    peak_memory_bytes: int | None

class WitnessCheck(TypedDict):
    """A struct of the table `witnesses`."""

    statement: str
    expected: str | None
    options: Sequence[str]

class WitnessRow(TypedDict):
    """A library's own test, cut down to one assertion, or a use written from a change, of which running shows the change; one form that passes on one side of the change alone, or two that do the same on either side."""

    id: str
    library: str
    old_version: str
    new_version: str
    source: str  # SnippetSource
    test_id: str | None
    test: str | None
    old_snippet_id: str | None
    new_snippet_id: str | None
    change_id: str | None
    distinctive: bool
    old_path: str | None
    new_path: str | None
    old_code: str | None
    new_code: str | None
    old_checks: Sequence[WitnessCheck]
    new_checks: Sequence[WitnessCheck]
    new_in_old: str | None  # Outcome
    old_fails_at: int | None
    new_fails_at: int | None
    similarity: float | None
    old_test_version: str | None
    new_test_version: str | None
    old_file: str | None
    old_line: int | None
    new_file: str | None
    new_line: int | None

class BehaviourRow(ChangeRow):
    """An API whose signature stays, and of which a program that uses it alone comes out otherwise in the next release."""

    old_outcome: str  # Outcome
    new_outcome: str  # Outcome
    snippet_id: str

class DraftedDescriptionRow(DraftRow):
    """What a migration does that a model wrote one side of, in the words of the same answer; tokens and cost are those of the code."""


class DraftedRewriteRow(RewriteRow):
    """A snippet as a model wrote it for another release of its library. It passed there, with the outputs that the snippet states."""

    drafter: str  # Drafter
    model: str
    prompt_sha256: str
    tries: int
    tokens: int
    nano_usd: int

class DraftedVerdictRow(VerdictRow):
    """One run of one side of a migration that a model wrote, or was asked to write, in one pinned environment."""


class FunctionEnvironmentRow(EnvironmentRow):
    """The environments that task functions and their tests are run in, a release with pytest beside it."""


class ImportableNameRow(SymbolRow):
    """One state of one path that can be imported without being public there; another release may have it as a public one."""


class ModelMigrationRow(MigrationRow):
    """The same task in two versions of a library, of which a model wrote one side, where no codemod and no example had it. Empty where no model drafts."""


class ProblemEnvironmentRow(EnvironmentRow):
    """The environments that problems and their tests are run in, a release with pytest beside it."""


class PublishedBlockCompletionRow(BlockCompletionRow):
    """The block completions of other languages that were accepted, with description, licence and source in each row."""

    description: str | None
    drafter: str | None  # Drafter
    model: str | None
    prompt_sha256: str | None
    source: str  # SnippetSource
    version_evidence: str  # VersionEvidence
    version_statement: str | None
    origin: str
    url: str | None
    source_file: str
    source_line: int
    created_time: datetime
    purl: str | None
    licence: str | None
    attribution: str | None
    flags: Sequence[str]  # FlagKind
    review_status: str  # ReviewStatus
    canary: str

class PublishedChangeRow(ChangeRow):
    """One change of one API between two consecutive releases, with what probes in both of them saw, or for `behaviour` the runs of a program."""

    old_outcome: str | None  # Outcome
    new_outcome: str | None  # Outcome

class PublishedCompatibilityRow(CompatibilityRow):
    """The programs that were accepted, with the releases that they are compatible with, proof and licence in each row."""

    evidence: str  # Evidence
    discriminating: bool
    description: str | None
    drafter: str | None  # Drafter
    model: str | None
    prompt_sha256: str | None
    source: str  # SnippetSource
    version_evidence: str  # VersionEvidence
    version_statement: str | None
    origin: str
    url: str | None
    source_file: str
    source_line: int
    created_time: datetime
    purl: str | None
    licence: str | None
    attribution: str | None
    flags: Sequence[str]  # FlagKind
    review_status: str  # ReviewStatus
    canary: str

class PublishedCompletionRow(CompletionRow):
    """The completion instances that were accepted, with description, proof, licence and source in each row."""

    evidence: str  # Evidence
    reference_outcome: str | None  # Outcome
    python: str
    lock_id: str
    neighbour_version: str | None
    versions: Sequence[str] | None
    discriminating: bool | None
    neighbour_outcome: str | None  # Outcome
    neighbour_answers: Sequence[str] | None
    description: str | None
    drafter: str | None  # Drafter
    model: str | None
    prompt_sha256: str | None
    source: str  # SnippetSource
    version_evidence: str  # VersionEvidence
    version_statement: str | None
    origin: str
    url: str | None
    source_file: str
    source_line: int
    created_time: datetime
    purl: str | None
    licence: str | None
    attribution: str | None
    flags: Sequence[str]  # FlagKind
    review_status: str  # ReviewStatus
    canary: str

class PublishedControlledCompletionRow(ControlledCompletionRow):
    """The controlled completions that were accepted, with proof and licence in each row."""

    evidence: str  # Evidence
    python: str
    lock_id: str
    neighbour_version: str | None
    versions: Sequence[str] | None
    discriminating: bool | None
    neighbour_outcome: str | None  # Outcome
    purl: str | None
    licence: str | None
    attribution: str | None
    flags: Sequence[str]  # FlagKind
    review_status: str  # ReviewStatus
    canary: str

class PublishedFunctionRow(FunctionRow):
    """The task functions that were accepted, masked at each level, with tests, proof, licence and source in each row."""

    function_id: str
    granularity: str  # Granularity
    masked_code: str
    answer: str
    evidence: str  # Evidence
    reference_outcome: str  # Outcome
    emptied_outcome: str  # Outcome
    python: str
    lock_id: str
    coverage: float
    versions: Sequence[str] | None
    other_code: str | None  # FunctionRun
    other_outcome: str | None  # Outcome
    other_program: str | None
    discriminating: bool
    source: str  # SnippetSource
    version_evidence: str  # VersionEvidence
    version_statement: str | None
    origin: str
    url: str | None
    source_file: str
    source_line: int
    created_time: datetime
    purl: str | None
    licence: str | None
    attribution: str | None
    flags: Sequence[str]  # FlagKind
    review_status: str  # ReviewStatus
    canary: str

class PublishedMigrationRow(MigrationRow):
    """The migration instances that were accepted, with description, proof, licence and source in each row."""

    evidence: str  # Evidence
    reference_outcome: str  # Outcome
    python: str
    lock_id: str
    source_in_target: str | None  # Outcome
    target_in_target: str  # Outcome
    target_in_source: str | None  # Outcome
    versions: Sequence[str] | None
    target_lock_id: str
    discriminating: bool
    mutants: int | None
    mutants_killed: int | None
    mutants_equivalent: int | None
    mutation_score: float | None
    description: str | None
    drafter: str | None  # Drafter
    model: str | None
    prompt_sha256: str | None
    source: str  # SnippetSource
    version_evidence: str  # VersionEvidence
    version_statement: str | None
    origin: str
    url: str | None
    source_file: str
    source_line: int
    created_time: datetime
    purl: str | None
    licence: str | None
    attribution: str | None
    flags: Sequence[str]  # FlagKind
    review_status: str  # ReviewStatus
    canary: str

class PublishedProblemRow(ProblemRow):
    """The version-conditioned problems that were accepted, with proof, licence and source in each row."""

    evidence: str  # Evidence
    reference_outcome: str  # Outcome
    visible_outcome: str  # Outcome
    python: str
    lock_id: str
    coverage: float
    versions: Sequence[str] | None
    other_code: str | None  # ProblemRun
    other_outcome: str | None  # Outcome
    other_solution: str | None
    discriminating: bool
    description: str | None
    source: str  # SnippetSource
    version_evidence: str  # VersionEvidence
    version_statement: str | None
    origin: str
    url: str | None
    source_file: str
    source_line: int
    created_time: datetime
    purl: str | None
    licence: str | None
    attribution: str | None
    flags: Sequence[str]  # FlagKind
    review_status: str  # ReviewStatus
    canary: str

class PublishedRepositoryTaskRow(RepositoryTaskRow):
    """The repository tasks that were accepted, with proof, licence and source in each row."""

    evidence: str  # Evidence
    origin: str
    url: str | None
    sdist: str
    sha256: str
    created_time: datetime
    purl: str
    licence: str | None
    attribution: str | None
    flags: Sequence[str]  # FlagKind
    review_status: str  # ReviewStatus
    canary: str

class PublishedSceneRow(SceneRow):
    """The editor scenes whose tests pass with the reference, with what is shown, the proof, licence and source in each row. What is run is prefix + completion + test_suffix."""

    prefix: str
    suffix: str
    test_suffix: str
    evidence: str  # Evidence
    python: str
    lock_id: str
    origin: str
    url: str | None
    sdist: str
    sha256: str
    created_time: datetime
    purl: str
    licence: str
    attribution: str | None
    flags: Sequence[str]  # FlagKind
    review_status: str  # ReviewStatus
    canary: str

class SiteDocumentRow(ApiDocumentRow):
    """What a page of a library's documentation site says of one public API; first_version and last_version are the one release that the site is of. The table api_documents takes these before docstrings."""

    version_statement: str

class Tables(TypedDict, total=False):
    """Rows of a library by table."""

    api_documents: Sequence[ApiDocumentRow]
    behaviours: Sequence[BehaviourRow]
    block_completions: Sequence[BlockCompletionRow]
    changes: Sequence[ChangeRow]
    code_samples: Sequence[CodeSampleRow]
    compatibilities: Sequence[CompatibilityRow]
    completions: Sequence[CompletionRow]
    controlled_completions: Sequence[ControlledCompletionRow]
    directives: Sequence[DirectiveRow]
    documents: Sequence[DocumentRow]
    drafted_descriptions: Sequence[DraftedDescriptionRow]
    drafted_rewrites: Sequence[DraftedRewriteRow]
    drafted_verdicts: Sequence[DraftedVerdictRow]
    drafts: Sequence[DraftRow]
    environments: Sequence[EnvironmentRow]
    errata: Sequence[ErratumRow]
    excluded_predictions: Sequence[ExcludedPredictionRow]
    flags: Sequence[FlagRow]
    function_environments: Sequence[FunctionEnvironmentRow]
    function_runs: Sequence[FunctionRunRow]
    functions: Sequence[FunctionRow]
    importable_names: Sequence[ImportableNameRow]
    judgements: Sequence[JudgementRow]
    lifecycles: Sequence[LifecycleRow]
    line_coverage: Sequence[LineCoverageRow]
    migrations: Sequence[MigrationRow]
    model_migrations: Sequence[ModelMigrationRow]
    mutation_scores: Sequence[MutationScoreRow]
    other_answers: Sequence[OtherAnswerRow]
    own_tests: Sequence[OwnTestRow]
    problem_environments: Sequence[ProblemEnvironmentRow]
    problem_runs: Sequence[ProblemRunRow]
    problems: Sequence[ProblemRow]
    project_files: Sequence[ProjectFileRow]
    projects: Sequence[ProjectRow]
    published_block_completions: Sequence[PublishedBlockCompletionRow]
    published_changes: Sequence[PublishedChangeRow]
    published_compatibilities: Sequence[PublishedCompatibilityRow]
    published_completions: Sequence[PublishedCompletionRow]
    published_contexts: Sequence[PublishedContextRow]
    published_controlled_completions: Sequence[PublishedControlledCompletionRow]
    published_functions: Sequence[PublishedFunctionRow]
    published_migrations: Sequence[PublishedMigrationRow]
    published_problems: Sequence[PublishedProblemRow]
    published_repository_tasks: Sequence[PublishedRepositoryTaskRow]
    published_retrievals: Sequence[PublishedRetrievalRow]
    published_scenes: Sequence[PublishedSceneRow]
    refused_drafts: Sequence[RefusedDraftRow]
    refused_functions: Sequence[RefusedFunctionRow]
    rejects: Sequence[RejectRow]
    releases: Sequence[ReleaseRow]
    repository_tasks: Sequence[RepositoryTaskRow]
    reviews: Sequence[ReviewRow]
    rewrites: Sequence[RewriteRow]
    scenes: Sequence[SceneRow]
    scores: Sequence[ScoreRow]
    site_documents: Sequence[SiteDocumentRow]
    snippets: Sequence[SnippetRow]
    stage_states: Sequence[StageStateRow]
    survivals: Sequence[SurvivalRow]
    symbols: Sequence[SymbolRow]
    traced_functions: Sequence[TracedFunctionRow]
    unsupported_rows: Sequence[UnsupportedRowRow]
    usages: Sequence[UsageRow]
    verdicts: Sequence[VerdictRow]
    witnesses: Sequence[WitnessRow]


class TypedReads:
    """What reads the tables of a library by their names."""

    @overload
    def read(self, name: Literal["api_documents"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ApiDocumentRow]: ...
    @overload
    def read(self, name: Literal["behaviours"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[BehaviourRow]: ...
    @overload
    def read(self, name: Literal["block_completions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[BlockCompletionRow]: ...
    @overload
    def read(self, name: Literal["changes"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ChangeRow]: ...
    @overload
    def read(self, name: Literal["code_samples"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[CodeSampleRow]: ...
    @overload
    def read(self, name: Literal["compatibilities"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[CompatibilityRow]: ...
    @overload
    def read(self, name: Literal["completions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[CompletionRow]: ...
    @overload
    def read(self, name: Literal["controlled_completions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ControlledCompletionRow]: ...
    @overload
    def read(self, name: Literal["directives"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[DirectiveRow]: ...
    @overload
    def read(self, name: Literal["documents"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[DocumentRow]: ...
    @overload
    def read(self, name: Literal["drafted_descriptions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[DraftedDescriptionRow]: ...
    @overload
    def read(self, name: Literal["drafted_rewrites"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[DraftedRewriteRow]: ...
    @overload
    def read(self, name: Literal["drafted_verdicts"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[DraftedVerdictRow]: ...
    @overload
    def read(self, name: Literal["drafts"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[DraftRow]: ...
    @overload
    def read(self, name: Literal["environments"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[EnvironmentRow]: ...
    @overload
    def read(self, name: Literal["errata"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ErratumRow]: ...
    @overload
    def read(self, name: Literal["excluded_predictions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ExcludedPredictionRow]: ...
    @overload
    def read(self, name: Literal["flags"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[FlagRow]: ...
    @overload
    def read(self, name: Literal["function_environments"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[FunctionEnvironmentRow]: ...
    @overload
    def read(self, name: Literal["function_runs"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[FunctionRunRow]: ...
    @overload
    def read(self, name: Literal["functions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[FunctionRow]: ...
    @overload
    def read(self, name: Literal["importable_names"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ImportableNameRow]: ...
    @overload
    def read(self, name: Literal["judgements"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[JudgementRow]: ...
    @overload
    def read(self, name: Literal["lifecycles"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[LifecycleRow]: ...
    @overload
    def read(self, name: Literal["line_coverage"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[LineCoverageRow]: ...
    @overload
    def read(self, name: Literal["migrations"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[MigrationRow]: ...
    @overload
    def read(self, name: Literal["model_migrations"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ModelMigrationRow]: ...
    @overload
    def read(self, name: Literal["mutation_scores"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[MutationScoreRow]: ...
    @overload
    def read(self, name: Literal["other_answers"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[OtherAnswerRow]: ...
    @overload
    def read(self, name: Literal["own_tests"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[OwnTestRow]: ...
    @overload
    def read(self, name: Literal["problem_environments"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ProblemEnvironmentRow]: ...
    @overload
    def read(self, name: Literal["problem_runs"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ProblemRunRow]: ...
    @overload
    def read(self, name: Literal["problems"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ProblemRow]: ...
    @overload
    def read(self, name: Literal["project_files"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ProjectFileRow]: ...
    @overload
    def read(self, name: Literal["projects"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ProjectRow]: ...
    @overload
    def read(self, name: Literal["published_block_completions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[PublishedBlockCompletionRow]: ...
    @overload
    def read(self, name: Literal["published_changes"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[PublishedChangeRow]: ...
    @overload
    def read(self, name: Literal["published_compatibilities"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[PublishedCompatibilityRow]: ...
    @overload
    def read(self, name: Literal["published_completions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[PublishedCompletionRow]: ...
    @overload
    def read(self, name: Literal["published_contexts"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[PublishedContextRow]: ...
    @overload
    def read(self, name: Literal["published_controlled_completions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[PublishedControlledCompletionRow]: ...
    @overload
    def read(self, name: Literal["published_functions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[PublishedFunctionRow]: ...
    @overload
    def read(self, name: Literal["published_migrations"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[PublishedMigrationRow]: ...
    @overload
    def read(self, name: Literal["published_problems"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[PublishedProblemRow]: ...
    @overload
    def read(self, name: Literal["published_repository_tasks"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[PublishedRepositoryTaskRow]: ...
    @overload
    def read(self, name: Literal["published_retrievals"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[PublishedRetrievalRow]: ...
    @overload
    def read(self, name: Literal["published_scenes"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[PublishedSceneRow]: ...
    @overload
    def read(self, name: Literal["refused_drafts"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[RefusedDraftRow]: ...
    @overload
    def read(self, name: Literal["refused_functions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[RefusedFunctionRow]: ...
    @overload
    def read(self, name: Literal["rejects"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[RejectRow]: ...
    @overload
    def read(self, name: Literal["releases"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ReleaseRow]: ...
    @overload
    def read(self, name: Literal["repository_tasks"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[RepositoryTaskRow]: ...
    @overload
    def read(self, name: Literal["reviews"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ReviewRow]: ...
    @overload
    def read(self, name: Literal["rewrites"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[RewriteRow]: ...
    @overload
    def read(self, name: Literal["scenes"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[SceneRow]: ...
    @overload
    def read(self, name: Literal["scores"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ScoreRow]: ...
    @overload
    def read(self, name: Literal["site_documents"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[SiteDocumentRow]: ...
    @overload
    def read(self, name: Literal["snippets"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[SnippetRow]: ...
    @overload
    def read(self, name: Literal["stage_states"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[StageStateRow]: ...
    @overload
    def read(self, name: Literal["survivals"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[SurvivalRow]: ...
    @overload
    def read(self, name: Literal["symbols"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[SymbolRow]: ...
    @overload
    def read(self, name: Literal["traced_functions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[TracedFunctionRow]: ...
    @overload
    def read(self, name: Literal["unsupported_rows"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[UnsupportedRowRow]: ...
    @overload
    def read(self, name: Literal["usages"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[UsageRow]: ...
    @overload
    def read(self, name: Literal["verdicts"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[VerdictRow]: ...
    @overload
    def read(self, name: Literal["witnesses"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[WitnessRow]: ...
    @overload
    def read(self, name: Literal["api_documents", "site_documents"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ApiDocumentRow]: ...
    @overload
    def read(self, name: Literal["changes", "behaviours"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[ChangeRow]: ...
    @overload
    def read(self, name: Literal["drafts", "drafted_descriptions"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[DraftRow]: ...
    @overload
    def read(self, name: Literal["environments", "function_environments", "problem_environments"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[EnvironmentRow]: ...
    @overload
    def read(self, name: Literal["migrations", "model_migrations"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[MigrationRow]: ...
    @overload
    def read(self, name: Literal["rewrites", "drafted_rewrites"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[RewriteRow]: ...
    @overload
    def read(self, name: Literal["symbols", "importable_names"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[SymbolRow]: ...
    @overload
    def read(self, name: Literal["verdicts", "drafted_verdicts"], library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[VerdictRow]: ...
    @overload
    def read(self, name: str, library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[AnyRow]: ...
    def read(self, name: str, library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[Any]:
        """Return the rows of a library in a table in the order of its key, all of them or those that a filter takes.

        Rows that are read in some `columns` have no others, whatever their type says.
        """
        return self._read(name, library, where, columns)

    def _read(self, name: str, library: str, where: pc.Expression | None, columns: Sequence[str] | None) -> list[Any]:
        raise NotImplementedError


class TypedSnapshot:
    """What reads the tables of a snapshot by the names of their configurations."""

    @overload
    def rows(self, config: Literal["api_documents"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ApiDocumentRow]: ...
    @overload
    def rows(self, config: Literal["behaviours"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[BehaviourRow]: ...
    @overload
    def rows(self, config: Literal["block_completions"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[PublishedBlockCompletionRow]: ...
    @overload
    def rows(self, config: Literal["changes"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[PublishedChangeRow]: ...
    @overload
    def rows(self, config: Literal["code_samples"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[CodeSampleRow]: ...
    @overload
    def rows(self, config: Literal["compatibilities"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[PublishedCompatibilityRow]: ...
    @overload
    def rows(self, config: Literal["completions"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[PublishedCompletionRow]: ...
    @overload
    def rows(self, config: Literal["contexts"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[PublishedContextRow]: ...
    @overload
    def rows(self, config: Literal["controlled_completions"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[PublishedControlledCompletionRow]: ...
    @overload
    def rows(self, config: Literal["directives"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[DirectiveRow]: ...
    @overload
    def rows(self, config: Literal["documents"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[DocumentRow]: ...
    @overload
    def rows(self, config: Literal["drafted_descriptions"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[DraftedDescriptionRow]: ...
    @overload
    def rows(self, config: Literal["drafted_rewrites"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[DraftedRewriteRow]: ...
    @overload
    def rows(self, config: Literal["drafted_verdicts"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[DraftedVerdictRow]: ...
    @overload
    def rows(self, config: Literal["drafts"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[DraftRow]: ...
    @overload
    def rows(self, config: Literal["environments"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[EnvironmentRow]: ...
    @overload
    def rows(self, config: Literal["errata"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ErratumRow]: ...
    @overload
    def rows(self, config: Literal["excluded_predictions"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ExcludedPredictionRow]: ...
    @overload
    def rows(self, config: Literal["flags"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[FlagRow]: ...
    @overload
    def rows(self, config: Literal["function_environments"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[FunctionEnvironmentRow]: ...
    @overload
    def rows(self, config: Literal["function_runs"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[FunctionRunRow]: ...
    @overload
    def rows(self, config: Literal["functions"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[PublishedFunctionRow]: ...
    @overload
    def rows(self, config: Literal["importable_names"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ImportableNameRow]: ...
    @overload
    def rows(self, config: Literal["judgements"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[JudgementRow]: ...
    @overload
    def rows(self, config: Literal["lifecycles"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[LifecycleRow]: ...
    @overload
    def rows(self, config: Literal["line_coverage"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[LineCoverageRow]: ...
    @overload
    def rows(self, config: Literal["migrations"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[PublishedMigrationRow]: ...
    @overload
    def rows(self, config: Literal["model_migrations"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ModelMigrationRow]: ...
    @overload
    def rows(self, config: Literal["mutation_scores"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[MutationScoreRow]: ...
    @overload
    def rows(self, config: Literal["other_answers"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[OtherAnswerRow]: ...
    @overload
    def rows(self, config: Literal["own_tests"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[OwnTestRow]: ...
    @overload
    def rows(self, config: Literal["problem_environments"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ProblemEnvironmentRow]: ...
    @overload
    def rows(self, config: Literal["problem_runs"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ProblemRunRow]: ...
    @overload
    def rows(self, config: Literal["problems"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[PublishedProblemRow]: ...
    @overload
    def rows(self, config: Literal["project_files"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ProjectFileRow]: ...
    @overload
    def rows(self, config: Literal["projects"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ProjectRow]: ...
    @overload
    def rows(self, config: Literal["refused_drafts"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[RefusedDraftRow]: ...
    @overload
    def rows(self, config: Literal["refused_functions"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[RefusedFunctionRow]: ...
    @overload
    def rows(self, config: Literal["rejects"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[RejectRow]: ...
    @overload
    def rows(self, config: Literal["releases"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ReleaseRow]: ...
    @overload
    def rows(self, config: Literal["repository_tasks"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[PublishedRepositoryTaskRow]: ...
    @overload
    def rows(self, config: Literal["retrievals"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[PublishedRetrievalRow]: ...
    @overload
    def rows(self, config: Literal["reviews"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ReviewRow]: ...
    @overload
    def rows(self, config: Literal["rewrites"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[RewriteRow]: ...
    @overload
    def rows(self, config: Literal["scenes"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[PublishedSceneRow]: ...
    @overload
    def rows(self, config: Literal["scores"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ScoreRow]: ...
    @overload
    def rows(self, config: Literal["site_documents"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[SiteDocumentRow]: ...
    @overload
    def rows(self, config: Literal["snippets"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[SnippetRow]: ...
    @overload
    def rows(self, config: Literal["stage_states"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[StageStateRow]: ...
    @overload
    def rows(self, config: Literal["survivals"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[SurvivalRow]: ...
    @overload
    def rows(self, config: Literal["symbols"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[SymbolRow]: ...
    @overload
    def rows(self, config: Literal["traced_functions"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[TracedFunctionRow]: ...
    @overload
    def rows(self, config: Literal["unsupported_rows"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[UnsupportedRowRow]: ...
    @overload
    def rows(self, config: Literal["usages"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[UsageRow]: ...
    @overload
    def rows(self, config: Literal["verdicts"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[VerdictRow]: ...
    @overload
    def rows(self, config: Literal["witnesses"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[WitnessRow]: ...
    @overload
    def rows(self, config: Literal["api_documents", "site_documents"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ApiDocumentRow]: ...
    @overload
    def rows(self, config: Literal["changes", "behaviours"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[ChangeRow]: ...
    @overload
    def rows(self, config: Literal["drafts", "drafted_descriptions"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[DraftRow]: ...
    @overload
    def rows(self, config: Literal["environments", "function_environments", "problem_environments"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[EnvironmentRow]: ...
    @overload
    def rows(self, config: Literal["migrations", "model_migrations"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[MigrationRow]: ...
    @overload
    def rows(self, config: Literal["rewrites", "drafted_rewrites"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[RewriteRow]: ...
    @overload
    def rows(self, config: Literal["symbols", "importable_names"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[SymbolRow]: ...
    @overload
    def rows(self, config: Literal["verdicts", "drafted_verdicts"], columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[VerdictRow]: ...
    @overload
    def rows(self, config: str, columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[AnyRow]: ...
    def rows(self, config: str, columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data") -> list[Any]:
        """Return the rows of a table in the order of its key: all columns or some, all rows or those of a filter.

        Rows that are read in some `columns` have no others, whatever their type says. A value that is not in its
        vocabulary today is an error.
        """
        return self._rows(config, columns, where, split)

    def _rows(
        self, config: str, columns: Iterable[str] | None, where: pc.Expression | None, split: str
    ) -> list[Any]:
        raise NotImplementedError


class Configurations(Mapping[str, Sequence[AnyRow]]):
    """The rows of a snapshot by configuration."""

    @overload
    def __getitem__(self, config: Literal["api_documents"]) -> Sequence[ApiDocumentRow]: ...
    @overload
    def __getitem__(self, config: Literal["behaviours"]) -> Sequence[BehaviourRow]: ...
    @overload
    def __getitem__(self, config: Literal["block_completions"]) -> Sequence[PublishedBlockCompletionRow]: ...
    @overload
    def __getitem__(self, config: Literal["changes"]) -> Sequence[PublishedChangeRow]: ...
    @overload
    def __getitem__(self, config: Literal["code_samples"]) -> Sequence[CodeSampleRow]: ...
    @overload
    def __getitem__(self, config: Literal["compatibilities"]) -> Sequence[PublishedCompatibilityRow]: ...
    @overload
    def __getitem__(self, config: Literal["completions"]) -> Sequence[PublishedCompletionRow]: ...
    @overload
    def __getitem__(self, config: Literal["contexts"]) -> Sequence[PublishedContextRow]: ...
    @overload
    def __getitem__(self, config: Literal["controlled_completions"]) -> Sequence[PublishedControlledCompletionRow]: ...
    @overload
    def __getitem__(self, config: Literal["directives"]) -> Sequence[DirectiveRow]: ...
    @overload
    def __getitem__(self, config: Literal["documents"]) -> Sequence[DocumentRow]: ...
    @overload
    def __getitem__(self, config: Literal["drafted_descriptions"]) -> Sequence[DraftedDescriptionRow]: ...
    @overload
    def __getitem__(self, config: Literal["drafted_rewrites"]) -> Sequence[DraftedRewriteRow]: ...
    @overload
    def __getitem__(self, config: Literal["drafted_verdicts"]) -> Sequence[DraftedVerdictRow]: ...
    @overload
    def __getitem__(self, config: Literal["drafts"]) -> Sequence[DraftRow]: ...
    @overload
    def __getitem__(self, config: Literal["environments"]) -> Sequence[EnvironmentRow]: ...
    @overload
    def __getitem__(self, config: Literal["errata"]) -> Sequence[ErratumRow]: ...
    @overload
    def __getitem__(self, config: Literal["excluded_predictions"]) -> Sequence[ExcludedPredictionRow]: ...
    @overload
    def __getitem__(self, config: Literal["flags"]) -> Sequence[FlagRow]: ...
    @overload
    def __getitem__(self, config: Literal["function_environments"]) -> Sequence[FunctionEnvironmentRow]: ...
    @overload
    def __getitem__(self, config: Literal["function_runs"]) -> Sequence[FunctionRunRow]: ...
    @overload
    def __getitem__(self, config: Literal["functions"]) -> Sequence[PublishedFunctionRow]: ...
    @overload
    def __getitem__(self, config: Literal["importable_names"]) -> Sequence[ImportableNameRow]: ...
    @overload
    def __getitem__(self, config: Literal["judgements"]) -> Sequence[JudgementRow]: ...
    @overload
    def __getitem__(self, config: Literal["lifecycles"]) -> Sequence[LifecycleRow]: ...
    @overload
    def __getitem__(self, config: Literal["line_coverage"]) -> Sequence[LineCoverageRow]: ...
    @overload
    def __getitem__(self, config: Literal["migrations"]) -> Sequence[PublishedMigrationRow]: ...
    @overload
    def __getitem__(self, config: Literal["model_migrations"]) -> Sequence[ModelMigrationRow]: ...
    @overload
    def __getitem__(self, config: Literal["mutation_scores"]) -> Sequence[MutationScoreRow]: ...
    @overload
    def __getitem__(self, config: Literal["other_answers"]) -> Sequence[OtherAnswerRow]: ...
    @overload
    def __getitem__(self, config: Literal["own_tests"]) -> Sequence[OwnTestRow]: ...
    @overload
    def __getitem__(self, config: Literal["problem_environments"]) -> Sequence[ProblemEnvironmentRow]: ...
    @overload
    def __getitem__(self, config: Literal["problem_runs"]) -> Sequence[ProblemRunRow]: ...
    @overload
    def __getitem__(self, config: Literal["problems"]) -> Sequence[PublishedProblemRow]: ...
    @overload
    def __getitem__(self, config: Literal["project_files"]) -> Sequence[ProjectFileRow]: ...
    @overload
    def __getitem__(self, config: Literal["projects"]) -> Sequence[ProjectRow]: ...
    @overload
    def __getitem__(self, config: Literal["refused_drafts"]) -> Sequence[RefusedDraftRow]: ...
    @overload
    def __getitem__(self, config: Literal["refused_functions"]) -> Sequence[RefusedFunctionRow]: ...
    @overload
    def __getitem__(self, config: Literal["rejects"]) -> Sequence[RejectRow]: ...
    @overload
    def __getitem__(self, config: Literal["releases"]) -> Sequence[ReleaseRow]: ...
    @overload
    def __getitem__(self, config: Literal["repository_tasks"]) -> Sequence[PublishedRepositoryTaskRow]: ...
    @overload
    def __getitem__(self, config: Literal["retrievals"]) -> Sequence[PublishedRetrievalRow]: ...
    @overload
    def __getitem__(self, config: Literal["reviews"]) -> Sequence[ReviewRow]: ...
    @overload
    def __getitem__(self, config: Literal["rewrites"]) -> Sequence[RewriteRow]: ...
    @overload
    def __getitem__(self, config: Literal["scenes"]) -> Sequence[PublishedSceneRow]: ...
    @overload
    def __getitem__(self, config: Literal["scores"]) -> Sequence[ScoreRow]: ...
    @overload
    def __getitem__(self, config: Literal["site_documents"]) -> Sequence[SiteDocumentRow]: ...
    @overload
    def __getitem__(self, config: Literal["snippets"]) -> Sequence[SnippetRow]: ...
    @overload
    def __getitem__(self, config: Literal["stage_states"]) -> Sequence[StageStateRow]: ...
    @overload
    def __getitem__(self, config: Literal["survivals"]) -> Sequence[SurvivalRow]: ...
    @overload
    def __getitem__(self, config: Literal["symbols"]) -> Sequence[SymbolRow]: ...
    @overload
    def __getitem__(self, config: Literal["traced_functions"]) -> Sequence[TracedFunctionRow]: ...
    @overload
    def __getitem__(self, config: Literal["unsupported_rows"]) -> Sequence[UnsupportedRowRow]: ...
    @overload
    def __getitem__(self, config: Literal["usages"]) -> Sequence[UsageRow]: ...
    @overload
    def __getitem__(self, config: Literal["verdicts"]) -> Sequence[VerdictRow]: ...
    @overload
    def __getitem__(self, config: Literal["witnesses"]) -> Sequence[WitnessRow]: ...
    @overload
    def __getitem__(self, config: str) -> Sequence[AnyRow]: ...
    def __getitem__(self, config: str) -> Sequence[Any]:
        """Return the rows of a configuration."""
        return self._rows_of(config)

    def _rows_of(self, config: str) -> Sequence[Any]:
        raise NotImplementedError
