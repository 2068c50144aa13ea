"""Every family says everything that other rooms ask, of columns, tables and stages that there are."""

from __future__ import annotations

import pytest

from pipeline.audit.rebuild.sample import MAKERS
from pipeline.core.rules.profiles import load_profile
from pipeline.core.settings import PROJECT, settings
from pipeline.core.vocabularies.families import Family
from pipeline.evaluation.export.formats import FORMATS
from pipeline.evaluation.prompts.rules import prompt_rules
from pipeline.evaluation.scores.families import SCORERS
from pipeline.evaluation.scores.planning import PLANNERS
from pipeline.evaluation.scores.tasks import Task
from pipeline.families.all_families import BY_NAME, FAMILIES, INSTANCES
from pipeline.families.family import DESCRIPTION, DescribedBy, InstanceFamily
from pipeline.index.release_selection import Period
from pipeline.lake.schema import table
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.stages.all_stages import stages_of
from pipeline.orchestration.stages.empty_families import NEEDS
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.quality.flags.subjects import MAKERS as SUBJECT_MAKERS
from pipeline.quality.flags.subjects import READS

of_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.table)
of_instances = pytest.mark.parametrize("family", INSTANCES, ids=lambda family: family.table)
CUT_FROM_FILES = {"contexts_above", "contexts_below"}
"""Panes that are not stored with a scene: its file is."""


def columns(name: str) -> set[str]:
    return {column.name for column in table(name).columns}


def test_each_is_declared_once_in_its_folder() -> None:
    assert sorted(family.name for family in FAMILIES) == sorted(Family)
    assert len({family.table for family in FAMILIES}) == len(FAMILIES)
    assert {*map(type, FAMILIES)} == {InstanceFamily}


@of_family
def test_it_is_scored_asked_exported_and_made_again(family: InstanceFamily) -> None:
    assert family.name in SCORERS
    assert (family.name in PLANNERS) == bool(family.running)
    assert family.name in {rule.family for rules in prompt_rules().values() for rule in rules.templates.values()}
    assert [name for name, known in FORMATS.items() if family.table in known.layout.families]
    assert family.table in MAKERS


@of_family
def test_its_times_are_columns_of_its_rows(family: InstanceFamily) -> None:
    dated = BY_NAME[family.view_of] if family.view_of else family
    assert {*family.dated_by} <= columns(dated.published)
    assert family.dated_by == dated.dated_by


@of_family
def test_its_setting_asks_for_it(family: InstanceFamily) -> None:
    rules = prompt_rules()[family.setting]
    assert rules.templates[rules.settings[family.setting].template].family is family.name


@of_family
def test_its_right_answer_continues_its_hint(family: InstanceFamily) -> None:
    row = {family.reference: "np.load(1)", family.hint or "": "np."}
    assert Task("", family.name, row, ()).right_answer == ("load(1)" if family.hint else "np.load(1)")


@of_family
def test_what_is_read_of_published_rows_is_declared(family: InstanceFamily) -> None:
    published = columns(family.published)
    read = {family.key, family.reference, *family.scoring, *family.running, *family.place, *family.question}
    read |= {*family.proofs.columns, family.version} if family.proofs else set()
    read |= {*family.hidden.readable_columns} if family.hidden else set()
    assert read <= published
    assert family.hint is None or family.hint in family.scoring
    named = columns(BY_NAME[family.view_of].published) if family.view_of else published
    assert family.hidden is None or family.hidden.column in named


@of_instances
def test_what_people_judge_and_edit_is_declared(family: InstanceFamily) -> None:
    made = columns(family.table)
    assert {*family.judged, *family.edited} - {DESCRIPTION} <= made
    assert (DESCRIPTION in family.edited) == (family.described_by is not DescribedBy.NOTHING)
    assert family.described_by is not DescribedBy.ROW or DESCRIPTION in made
    shown = {pane.column for pane in family.panes}
    assert shown <= made | CUT_FROM_FILES
    assert {*(family.compared or ())} <= shown
    assert family.judged
    assert family.panes
    assert family.place
    assert family.question


@of_instances
def test_flags_look_at_its_instances(family: InstanceFamily) -> None:
    assert family.table in READS
    assert family.table in SUBJECT_MAKERS


@of_family
def test_its_stages_and_tables_are_there(family: InstanceFamily) -> None:
    stages = stages_of(Resources(settings(), load_profile("starter"), Period()))
    assert {*family.stages} <= {name for names in GROUPS.values() for name in names}
    assert family.published in stages[family.stages[-1]].writes
    assert family.view_of or family.table in stages[family.stages[0]].writes
    assert {*family.needs} <= NEEDS.keys()
    assert family.environments is None or columns(family.environments) >= {"version", "lock_id", "outcome"}


@of_family
def test_it_says_what_can_be_done_where_it_is_empty(family: InstanceFamily) -> None:
    why, advice = family.advice
    assert why
    files = {word.rstrip(".,;") for word in advice.split() if word.startswith("curation_rules/")}
    assert files
    assert {file for file in files if not (PROJECT / file).is_file()} == set()
