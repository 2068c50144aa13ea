"""`driftline libraries`: choose the libraries of the profile of the most used ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from packaging.utils import canonicalize_name

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, notify, print_json, print_table
from pipeline.core.rules.load import load
from pipeline.core.settings import index_url, settings
from pipeline.core.vocabularies.libraries import Unsuited
from pipeline.index.http import Fetcher, NotFound
from pipeline.index.library_facts import FOLDER, read_facts, read_ranking, write_facts
from pipeline.index.licences import LicenceRules
from pipeline.orchestration.library_choice.choose import Considered, choose
from pipeline.orchestration.library_choice.index_queries import ask
from pipeline.orchestration.library_choice.rules import ChoosingRules
from pipeline.orchestration.library_choice.writing import considered_text, profile_text
from pipeline.quality.acceptance.quality import QualityRules

app = typer.Typer(no_args_is_help=True)

Ranking = Annotated[
    Path, typer.Option(help="Ranking to go down; also the CSV of hugovk/top-pypi-packages.", dir_okay=False)
]


@app.callback()
def libraries() -> None:
    """Choose the profile of the most used libraries by rule."""


@app.command("choose")
def choose_libraries(
    ranking: Ranking = FOLDER / "ranking.csv",
    check: Annotated[bool, typer.Option("--check", help="Write nothing; status 1 if the files differ.")] = False,
    json: Json = False,
) -> None:
    """Choose the libraries again by `curation_rules/libraries.yaml`, from the ranking and stored facts of the index.

    Writes the profile, and `data/libraries/considered.csv` with the decision and reason for every library. The index is
    not queried.

    Example: driftline libraries choose --check
    """
    rules, considered = _considered(ranking)
    files = {
        settings().rules / "profiles" / f"{rules.profile}.yaml": profile_text(considered, rules),
        FOLDER / "considered.csv": considered_text(considered),
    }
    changed = [path for path, text in files.items() if not path.is_file() or path.read_text() != text]
    _show(considered, json)
    if check and changed:
        fail(f"not what the rule gives: {', '.join(path.name for path in changed)}; run without --check", PROBLEM)
    for path in changed:
        path.write_text(files[path])
        notify(f"wrote {path}")


@app.command("ask")
def ask_index(
    libraries: Annotated[list[str] | None, typer.Argument(help="Libraries; or say how many with --unasked.")] = None,
    unasked: Annotated[int, typer.Option(min=0, help="So many of the chosen ones that were never asked about.")] = 0,
    ranking: Ranking = FOLDER / "ranking.csv",
) -> None:
    """Query the index about libraries, one after the other, and store facts in `data/libraries/facts.jsonl`.

    Choose again afterwards: facts may exclude a library.

    Example: driftline libraries ask textual loguru
    """
    names = [str(canonicalize_name(name)) for name in libraries or ()]
    rules, considered = _considered(ranking)
    names += [library.ranked.library for library in considered if library.reason is None and library.fact is None][
        :unasked
    ]
    if not names:
        fail("name libraries, or say with --unasked how many of the chosen ones", BAD_USAGE)
    _ask(names, rules)


def _considered(ranking: Path) -> tuple[ChoosingRules, list[Considered]]:
    """Return the rules, and their decisions on the libraries of a ranking."""
    folder = settings().rules
    rules = load(folder / "libraries.yaml", ChoosingRules)
    licences = load(folder / "quality.yaml", QualityRules).licences
    try:
        return rules, choose(read_ranking(ranking), read_facts(FOLDER / "facts.jsonl"), rules, licences)
    except ValueError as error:
        fail(error, BAD_USAGE)


def _ask(names: Sequence[str], rules: ChoosingRules) -> None:
    """Store the facts of each library as soon as they are known."""
    fetcher = Fetcher(timeout_s=settings().timeout_s)
    licences = load(settings().rules / "licences.yaml", LicenceRules)
    path = FOLDER / "facts.jsonl"
    facts = read_facts(path)
    for name in names:
        try:
            fact = ask(fetcher, index_url(), name, rules.since, datetime.now(UTC).date(), licences)
        except NotFound:
            fact = None
        if fact is None:
            notify(f"{name}: the index has no final release of it; its fact stays as it was")
            continue
        facts[name] = fact
        write_facts(path, facts.values())
        notify(f"{name}: {fact.releases} releases since {rules.since}, licence {fact.licence or 'not read'}")


def _show(considered: Sequence[Considered], json: bool) -> None:
    """Show the numbers of chosen and refused libraries, by reason."""
    chosen = [library for library in considered if library.reason is None]
    refused = Counter(library.reason for library in considered if library.reason)
    if json:
        queried = sum(library.fact is not None for library in chosen)
        print_json(
            {
                "considered": len(considered),
                "chosen": len(chosen),
                "queried": queried,
                "refused": {str(reason): refused[reason] for reason in Unsuited if refused[reason]},
                "libraries": [library.ranked.library for library in chosen],
            }
        )
        return
    notify(f"{len(chosen)} chosen of the {len(considered)} most downloaded")
    rows = [(str(reason), refused[reason], reason.meaning) for reason in Unsuited if refused[reason]]
    print_table("", ("refused", "libraries", "because"), rows)
