"""The stages that collect, and those that read and compare what was collected, up to instances and their texts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pipeline.api.history.documented import directives_stage
from pipeline.core.rules.fingerprint import plain
from pipeline.core.versions import stage_version
from pipeline.corpus.documentation.stage import STATES, api_documents_stage
from pipeline.corpus.own_tests.stage import own_tests_stage
from pipeline.corpus.snippets.stage import snippets_stage
from pipeline.corpus.usages import api
from pipeline.corpus.usages.stage import usage_stage
from pipeline.corpus.witnesses.stage import witnesses_stage
from pipeline.execution.environments.resolution.interpreters import discover
from pipeline.execution.validation.runs import EXAMPLES
from pipeline.families.completions_and_migrations import history
from pipeline.families.completions_and_migrations.stage import instances_stage
from pipeline.families.contexts.controlled import controlled_stage
from pipeline.families.problems.library import DOCSTRINGS
from pipeline.lake.reads import Read
from pipeline.lake.runner import Stage
from pipeline.llm.stage import drafting_stage
from pipeline.orchestration.resources.model import writer
from pipeline.orchestration.resources.reading import crawl, follow_lifecycles, gather, read_sites, read_surfaces
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.stages.declaring import declared

_API = Read("symbols", api.COLUMNS)


def collection(resources: Resources) -> Iterator[Stage]:
    """Yield the stages that look at the outside world each time, and add to what is in the lake."""
    yield Stage("crawl", stage_version("crawl"), (), ("releases",), lambda: None, partial(crawl, resources))
    yield Stage("gather", stage_version("gather"), (), ("code_samples",), lambda: None, partial(gather, resources))
    yield Stage("sites", stage_version("sites"), (), ("site_documents",), lambda: None, partial(read_sites, resources))


def analysis(resources: Resources) -> Iterator[Stage]:
    """Yield the stages from surfaces and changes to instances and their descriptions; of them `witnesses` runs code."""
    rules = resources.rules
    yield Stage(
        "surface",
        stage_version("surface"),
        ("releases",),
        ("symbols", "importable_names", "documents"),
        lambda: plain(rules.of_history),
        partial(read_surfaces, resources),
    )
    yield Stage(
        "lifecycle",
        stage_version("lifecycle"),
        ("releases", "symbols", "importable_names"),
        ("changes", "lifecycles"),
        lambda: plain([rules.of_history, rules.lifecycle]),
        partial(follow_lifecycles, resources),
    )
    yield declared(
        "directives",
        reads="releases documents symbols lifecycles changes",
        writes="directives",
        depends=lambda: rules.directives,
        run=lambda tables: directives_stage(tables, rules=rules.directives),
        partly=[
            Read("symbols", (*history.COLUMNS, "public_because", "parameters", "labels", "deprecation")),
            Read("documents", ("path", "canonical_path", "first_version", "last_version", "docstring")),
        ],
    )
    yield declared(
        "api_documents",
        reads="releases documents symbols site_documents",
        writes="api_documents",
        depends=lambda: rules.directives,
        run=lambda tables: api_documents_stage(tables, rules=rules.directives),
        partly=[STATES],
    )
    secrets = [rule for rule in rules.snippets.samples.redactions if rule.name in rules.own_tests.secrets]
    yield declared(
        "own_tests",
        reads="releases symbols",
        writes="own_tests",
        depends=lambda: [
            *(rules.own_tests, rules.usage, secrets),
            *([rules.github.take] if resources.code_sources.repositories() else []),
        ],
        run=lambda tables: own_tests_stage(
            tables,
            sdists=resources.release_sdists,
            rules=rules.own_tests,
            usage=rules.usage,
            redactions=secrets,
        ),
        partly=[_API],
    )
    yield declared(
        "witnesses",
        reads="releases symbols changes own_tests",
        writes="witnesses",
        depends=lambda: [
            rules.own_tests,
            rules.usage,
            rules.validation,
            rules.of_environments,
            [interpreter.python for interpreter in discover()],
        ],
        run=lambda tables: witnesses_stage(tables, resources.runner, rules.own_tests, rules.usage),
        partly=[Read("symbols", (*api.COLUMNS, "parameters"))],
    )
    yield declared(
        "snippets",
        reads="releases documents symbols code_samples witnesses",
        writes="snippets",
        depends=lambda: [rules.snippets, rules.python_files, rules.quality.licences, rules.usage],
        run=lambda tables: snippets_stage(
            tables, rules=rules.snippets, files=rules.python_files, licences=rules.quality.licences, usage=rules.usage
        ),
        partly=[_API],
    )
    yield declared(
        "usage",
        reads="releases snippets symbols",
        writes="usages",
        depends=lambda: rules.usage,
        run=lambda tables: usage_stage(tables, rules=rules.usage),
        partly=[_API, Read("snippets", ("library", "version", "language", "preamble", "code"))],
    )
    yield declared(
        "instances",
        reads="releases snippets usages symbols changes lifecycles witnesses",
        writes="completions migrations rewrites block_completions",
        depends=lambda: [
            rules.masking,
            rules.lifecycle,
            rules.stack_overflow.foreign,
            rules.codemods,
            rules.validation.executable_sources,
        ],
        run=lambda tables: instances_stage(
            tables,
            tagging=rules.lifecycle,
            rules=rules.masking,
            foreign=resources.foreign_names(),
            codemods=rules.codemods,
            executable_sources=rules.validation.executable_sources,
        ),
        partly=[
            Read("symbols", (*history.COLUMNS, "parameters", "labels")),
            Read("snippets", (*EXAMPLES.columns, "example_of", "origin", "place", "file", "created_time")),
        ],
    )
    yield declared(
        "drafting",
        reads="completions migrations snippets documents",
        writes="drafts refused_drafts",
        depends=lambda: [rules.drafting, *resources.by_model(rules.drafts.description)],
        run=lambda tables: drafting_stage(
            tables, rules=rules.drafting, writer=writer(resources, rules.drafts.description)
        ),
        partly=[Read("snippets", ("path",)), DOCSTRINGS],
    )
    yield declared(
        "controlled",
        reads="releases api_documents symbols changes lifecycles",
        writes="controlled_completions",
        depends=lambda: [
            rules.contexts.controlled,
            rules.lifecycle,
            rules.drafting,
            *resources.by_model(rules.drafts.description),
            rules.masking.ignore_case,
        ],
        run=lambda tables: controlled_stage(
            tables,
            tagging=rules.lifecycle,
            rules=rules.contexts.controlled,
            writer=writer(resources, rules.drafts.description),
            ignore_case=rules.masking.ignore_case,
        ),
        partly=[Read("symbols", (*history.COLUMNS, "labels"))],
    )
