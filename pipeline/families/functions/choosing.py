"""Which tasks of examples become functions, and in which versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.functions import FunctionRun
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.usages.uses import Use
from pipeline.families.completions_and_migrations.history import Tagging
from pipeline.families.functions.function import Function
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.problems.candidates import Candidate, Candidates, ExampleTask
from pipeline.families.problems.library import Library
from pipeline.families.problems.program import ProblemProgram, other_program, write
from pipeline.families.problems.rules import ProblemRules
from pipeline.lake.stage import Reject

_ROLES = {
    ProblemRun.OTHER_EXAMPLE: FunctionRun.OTHER_EXAMPLE,
    ProblemRun.OTHER_CODEMOD: FunctionRun.OTHER_CODEMOD,
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A task as a function in a version; `apart` is the difference of the version from a neighbour, if there is any.

    `use` is the use of the core API in the program that is masked. `other_program` is right for the neighbour, if there
    is evidence for one.
    """

    example: ExampleTask
    written: ProblemProgram
    function: Function
    tags: Tagging
    use: Use
    apart: Candidate | None
    other_program: str | None

    @property
    def key(self) -> str:
        """What a reject of it is called."""
        return f"{self.example.key} {self.function.version}"

    @property
    def other_role(self) -> FunctionRun | None:
        """The evidence for the neighbour's program."""
        return _ROLES[self.apart.other.role] if self.apart is not None and self.apart.other is not None else None

    @property
    def rank(self) -> tuple[object, ...]:
        """The order of choice."""
        task, apart = self.example.task, self.apart
        order = apart is None, apart is None or apart.other is None, apart is None or not apart.differs_in_runs
        is_witness = self.example.witnessed is not None
        size = -len(task.cases), len(task.body), len(task.variables)
        return (*order, is_witness, *size, self.function.version, self.example.key)


class Choices:
    """Finds the versions of tasks, and the core API of each; `min_name_length` is that of `masking.yaml`."""

    def __init__(self, finder: Candidates, min_name_length: int) -> None:
        self.finder = finder
        self.library: Library = finder.library
        self.rules: ProblemRules = finder.rules
        self.min_name_length = min_name_length

    def of(self, example: ExampleTask) -> Iterator[Choice | Reject]:
        """Yield the task in each version that sets it apart, then in the first and the last that have the example.

        Rejects: NO_PREDECESSOR where no version can be compared with the one before, UNFIT_NAME where the core API
        goes by no name of its own that could be hidden.
        """
        history, snippet = self.library.history, example.snippet
        run = history.between(snippet["version"], snippet["last_version"])
        compared = [version for version in run if history.previous(version) or example.witnessed is not None]
        if not compared:
            detail = f"of {run[0]} to {run[-1]} the lake holds no release before"
            yield Reject(example.key, RejectReason.NO_PREDECESSOR, detail)
            return
        written = write(example.task, (), self.rules)
        apart = {candidate.version: candidate for candidate in self.finder.of(example)}
        for version in dict.fromkeys([*apart, compared[0], compared[-1]]):
            yield self._choice(example, written, version, apart.get(version))

    def _choice(
        self, example: ExampleTask, written: ProblemProgram, version: str, apart: Candidate | None
    ) -> Choice | Reject:
        history, key = self.library.history, f"{example.key} {version}"
        uses = self.library.uses(written.program, version)
        own = [use for use in uses if use.name == use.path.rpartition(".")[2] and history.tags(use.path, version)]
        fit = [use for use in own if len(use.name) >= self.min_name_length and not use.name.startswith("_")]
        use = _core(fit, apart.path if apart is not None else None, example.snippet["path"])
        tags = history.tags(use.path, version) if use is not None else None
        if use is None or tags is None:
            matching = ", ".join(sorted({use.path for use in uses})) or "nothing of the library"
            return Reject(key, RejectReason.UNFIT_NAME, f"it uses {matching}")
        other = apart.other if apart is not None else None
        program = other_program(example.task, other.task, self.rules) if other is not None else None
        return Choice(example, written, self._function(example, written, version, use), tags, use, apart, program)

    def _function(self, example: ExampleTask, written: ProblemProgram, version: str, use: Use) -> Function:
        changed = self.library.changed_parameters(use.path, version)
        return Function(
            library=example.snippet["library"],
            version=version,
            path=use.path,
            program=written.program,
            name=written.function,
            parameters=written.parameters,
            hidden=(use.name, *sorted(set(use.keywords) & changed)),
            docstrings=self.library.docstrings([use.path], version),
            document=self.library.document(use.path, version),
            apis=self.library.functions(version),
        )


def _core(uses: Sequence[Use], changed: str | None, documented: str | None) -> Use | None:
    """Return the use of the core API: the changed one, else the one that the example documents, else the last."""
    for path in (changed, documented):
        if matching := next((use for use in uses if use.path == path), None):
            return matching
    return uses[-1] if uses else None


def within_quota(choices: Iterable[Choice], rules: FunctionRules) -> tuple[list[Choice], list[Reject]]:
    """Keep as many choices as the rules take, the most telling first, and one of the same program."""
    counts: Counter[Hashable] = Counter()
    chosen: dict[str, Choice] = {}
    rejects: list[Reject] = []
    for each in sorted(choices, key=lambda choice: choice.rank):
        function = each.function
        if function.id in chosen:
            detail = f"the same program as {chosen[function.id].key}"
            rejects.append(Reject(each.key, RejectReason.DUPLICATE, detail))
            continue
        kinds = {
            ("task", each.example.key): rules.max_versions_per_task,
            ("path", function.path, function.version): rules.max_per_path_and_version,
            ("library",): rules.max_per_library,
        }
        full = next((kind for kind, limit in kinds.items() if counts[kind] >= limit), None)
        if full is not None:
            rejects.append(
                Reject(each.key, RejectReason.OVER_QUOTA, f"the rule takes {kinds[full]} of {' '.join(full)}")
            )
        else:
            counts.update(kinds.keys())
            chosen[function.id] = each
    return list(chosen.values()), rejects
