"""What a family of instances declares about itself: everything that other rooms ask of it, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum, auto
from typing import Any, Generic, Literal

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Facet, Metric
from pipeline.execution.validation.cases import Case
from pipeline.lake.rows import AnyRow, R
from pipeline.lake.schema import table

DISCRIMINATING = "discriminating"
"""The column that states whether a run tells releases apart."""

TAGS = ("versicode_tag", "libevolutioneval_tag")
DESCRIPTION = "description"
PLACE_OF_CODE = ("library", "source", "origin", "source_file", "path", "version")
"""Where an instance made from an example stands."""

CODE_OF_OTHERS = (
    "name packages that use it in curation_rules/dependents.yaml, its site in curation_rules/documentation.yaml or its"
    " tag in curation_rules/stack_overflow.yaml, or give a source that was left out what it needs"
)
"""What a curator can do where examples are missing."""


EnvironmentTable = Literal["environments", "function_environments", "problem_environments"]
"""A table with environments."""


class DescribedBy(Enum):
    """Where the description of an instance stands."""

    NOTHING = auto()
    ROW = auto()
    """In its own column."""
    DRAFT = auto()
    """In the table `drafts`."""
    TITLE = auto()
    """It is the title of its post, without the name that is hidden."""


@dataclass(frozen=True, slots=True)
class Pane:
    """A column as annotators read it; `language` is that of the instance where it is Python here."""

    column: str
    label: str
    language: str = "python"


@dataclass(frozen=True, slots=True)
class Hidden:
    """The column with the name that is asked for, and the columns in which it must not be readable."""

    column: str
    readable_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probed:
    """A path that is imported in the environment of a lock."""

    lock_id: str
    path: str


@dataclass(frozen=True, slots=True)
class Example:
    """A snippet or rewritten example, by its id, run in the environment of a lock."""

    id: str
    lock_id: str


@dataclass(frozen=True, slots=True)
class Program:
    """Code with its tests, run in the environment of a lock."""

    lock_id: str
    case: Case


@dataclass(frozen=True, slots=True)
class ProjectTests:
    """Tests of a project, run on it as it is; `path` is the file with the answer."""

    project_id: str
    path: str
    tests: tuple[str, ...]


Proof = Probed | Example | Program | ProjectTests
"""A run that has to pass for a published row to be right."""


@dataclass(frozen=True, slots=True)
class Proofs(Generic[R]):
    """How published rows are proven again: the columns that are read, and the runs, that of the own version first."""

    columns: tuple[str, ...]
    runs: Callable[[R], Iterator[Proof]]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFamily:
    """A family: its tables, what is asked and answered, judged and edited, run, scored and published.

    What takes code of a room above stands there in one function: score and runs of an answer (`evaluation/scores/`),
    flags (`quality/flags/subjects.py`), rebuilding (`audit/rebuild/`). Tests fail where a family has none.
    """

    name: Family
    stages: tuple[str, ...]
    """The stages that make or refuse its rows, the one that lets them through last."""
    needs: tuple[str, ...]
    """The tables without which there are no rows."""
    advice: tuple[str, str]
    """Why there are none all the same, and what a curator can do."""
    reference: str
    """The published column with the right answer."""
    hint: str | None = None
    """The published column with the beginning of the reference, where the prompt shows it."""
    setting: str
    """The setting of prompts where none is named."""
    metric: Metric = Metric.PASS
    """The main metric of its scores."""
    scoring: tuple[str, ...]
    """The published columns that scoring reads."""
    running: tuple[str, ...] = ()
    """Those that Pass@k reads beside them; none where no answer is run."""
    view_of: Family | None = None
    """The family that its rows show in another way, by that one's ids; then nobody judges or edits them."""
    key: str = "id"
    """The published column with the id of a task."""
    place: tuple[str, ...] = ()
    """The columns that say where a row stands: rows with other content there are one row that changed."""
    question: tuple[str, ...] = ()
    """The columns that are asked and answered; rows that are equal in them are the same task."""
    hidden: Hidden | None = None
    judged: tuple[str, ...] = ()
    """The columns that a decision is about, beside the description."""
    edited: tuple[str, ...] = ()
    """The columns that an edit may change."""
    panes: tuple[Pane, ...] = ()
    compared: tuple[str, str] | None = None
    """The panes that are shown side by side."""
    described_by: DescribedBy = DescribedBy.NOTHING
    tags_proved: bool = False
    """Runs of the neighbouring releases prove its tags, see `proof.prove`."""
    own_runs: bool = False
    """It is run under its own id, not under that of a snippet."""
    environments: EnvironmentTable | None = "environments"
    """The table with the environments of its locks; None where projects have their own."""
    proofs: Proofs[Any] | None = None
    """How its rows are run again; None where nothing is run."""
    version: str = "version"
    release_time: str = "release_time"
    """The columns with the release that the reference is right for."""
    dated_by: tuple[str, ...] = ("release_time", "created_time")
    """The columns with the times before which nobody could know the answer, or have read it: the release of the
    version, and the first publication of the code. Each lies after a training cutoff in the view `post_cutoff`."""
    retrieves: bool = False
    """An answer may be a list of documents."""
    verbatim: bool = False
    """An answer goes to a cursor as it is, a Markdown fence too."""
    cluster: tuple[str, ...] = ("library", "path")
    """The columns that say what a row is about: who can answer one of several equal rows hardly fails at the others."""
    apart: Facet = Facet.FAMILY
    """What its scores are never put together over, since what is asked for differs."""

    @property
    def table(self) -> str:
        """The table of its instances, and the configuration of a snapshot."""
        return self.name.table

    @property
    def published(self) -> str:
        """The table of its published rows."""
        return f"published_{self.table}"

    @property
    def has_discriminating(self) -> bool:
        """Whether its rows, or those behind them, state if they are discriminating."""
        is_column = any(column.name == DISCRIMINATING for column in table(self.published).columns)
        return is_column or self.view_of is not None

    def day_of(self, row: AnyRow) -> date | None:
        """Return the earliest day of the times that date a row, UTC; None where the row lacks one of them."""
        times = [row.get(column) for column in self.dated_by]
        return None if None in times else min(time.date() for time in times if time is not None)

    @property
    def tagged(self) -> bool:
        """Whether its rows have tags that people judge."""
        return set(TAGS) <= set(self.judged)
