"""What uses of libraries there are in real code, told by running it: the facts of tests/corpus/usages/truth.

    python -m benchmarks.uses_truth flask-login …        (all projects, if none is named)

Of each project of uses_truth.toml the newest source distribution is taken, its own tests are run in the sandbox in an
environment of wheels, and every name and attribute that is read tells which object it led to (`use_sites`,
`use_tracer`). Of the files that use a library some are drawn by the hash of their path. What we find in them is not
looked at.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import subprocess
import sysconfig
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from benchmarks.published import Sdist, sdist, symbols_of
from benchmarks.use_sites import Site, rewritten
from benchmarks.uses_facts import TRUTH
from pipeline.execution.sandbox.environment import Environment, bare_environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.sandbox.supervise import Limits
from pipeline.lake.rows import SymbolState

FILES = 8
ENOUGH = 60
LIMITS = Limits(time_s=900, output_bytes=256 << 20, scratch_bytes=1 << 30, file_bytes=256 << 20, processes=256)

RUN = """
import glob, json, subprocess, sys
with open("pytest.log", "w") as log:
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider", *sys.argv[1:]],
                   stdout=log, stderr=subprocess.STDOUT)
told = [json.load(open(path)) for path in glob.glob("trace/told-*.json")]
print(json.dumps({"told": told, "log": open("pytest.log").read()[-3000:]}))
"""


@dataclass(frozen=True, slots=True)
class Project:
    """A project that uses libraries, what its tests need beside it, and where they are."""

    name: str
    libraries: tuple[str, ...]
    needs: tuple[str, ...] = ()
    tests: tuple[str, ...] = ("tests",)


def projects() -> list[Project]:
    """Return the projects of uses_truth.toml, in which they were written down before any of them was looked at."""
    written = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
    return [
        Project(name, *(tuple(told.get(key, default)) for key, default in _FIELDS)) for name, told in written.items()
    ]


_FIELDS: tuple[tuple[str, tuple[str, ...]], ...] = (("libraries", ()), ("needs", ()), ("tests", ("tests",)))


def environment_of(made_of: Project, version: str, folder: Path) -> tuple[Environment, dict[str, str]]:
    """Build an environment of wheels, and return it with the versions that are in it."""
    bare = bare_environment()
    python, uv = folder / "bin" / "python", str(Path(sysconfig.get_path("scripts"), "uv"))
    subprocess.run([uv, "venv", "-q", "--python", bare.python, folder], check=True)
    wanted = [f"{made_of.name}=={version}", "pytest", *made_of.needs, *made_of.libraries]
    subprocess.run([uv, "pip", "install", "-q", "--python", python, "--only-binary", ":all:", *wanted], check=True)
    listed = subprocess.run(
        [uv, "pip", "list", "--format", "json", "--python", python], check=True, capture_output=True
    ).stdout
    folder.parent.chmod(0o755)
    site_packages = folder / "lib" / f"python{bare.python_version}" / "site-packages"
    environment = Environment(made_of.name, bare.python_version, python, site_packages, (*bare.folders, folder))
    return environment, {row["name"]: row["version"] for row in json.loads(listed)}


@dataclass(frozen=True, slots=True)
class Traced:
    """The sites of each file, and what was told of those that ran."""

    sites: dict[str, tuple[int, list[Site]]]
    told: dict[int, set[tuple[str, ...]]]
    log: str


def trace(made_of: Project, source: Sdist, environment: Environment, roots: Iterable[str]) -> Traced:
    """Run a project's tests on its rewritten files."""
    files, sites = dict(source.files), {}
    all_sites: list[Site] = []
    for path, content in sorted(source.files.items()):
        if path.endswith(".py") and path != "setup.py" and (made := rewritten(content, len(all_sites))):
            sites[path] = (len(all_sites), made.sites)
            all_sites += made.sites
            files[path] = made.text.encode()
    files["trace/sites.json"] = json.dumps([[site.name, site.imported] for site in all_sites]).encode()
    files["trace/sitecustomize.py"] = Path(__file__).with_name("use_tracer.py").read_bytes()
    variables = {"TRACE_ROOTS": ",".join(roots), "TRACE_FOLDER": "/tmp/trace", "PYTHONPATH": "/tmp/trace:/tmp:/tmp/src"}  # noqa: S108
    finished = find_sandbox().run(
        [str(environment.python), "-c", RUN, *made_of.tests],
        environment=environment, files=files, stdin=b"", limits=LIMITS, variables=variables,
    )  # fmt: skip
    if not finished.stdout:
        raise RuntimeError(f"{made_of.name}: nothing was told: {finished}")
    answer = json.loads(finished.stdout)
    told: dict[int, set[tuple[str, ...]]] = {}
    for number, records in (one for process in answer["told"] for one in process):
        told.setdefault(number, set()).update(tuple(record) for record in records)
    return Traced(sites, told, answer["log"])


@dataclass(frozen=True, slots=True)
class Fact:
    """What a site led to: any of `paths`, canonical; `certain` where it is a use of a public path beyond doubt.

    `of_object`: it is an attribute of a class or object, and not of a module.
    """

    end: int
    certain: bool
    of_object: bool
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Public:
    """The public API of a release, and the names by which it is imported."""

    symbols: Mapping[str, SymbolState]
    canonical: frozenset[str]
    roots: tuple[str, ...]


def public(library: str, version: str) -> Public:
    """Return the public API of a release."""
    symbols, roots = symbols_of(library, version)
    return Public(symbols, frozenset(row["canonical_path"] for row in symbols.values()), roots)


def fact_of(site: Site, records: Sequence[tuple[str, ...]], api: Public) -> Fact | None:
    """Judge what was told of a site against the public API: certain if it is public wherever it was reached.

    An object that a plain name holds may be anybody's variable: that is never certain.
    """
    paths: set[str] = set()
    certain = []
    for kind, *told in records:
        reached = [f"{holder}.{site.name}" for holder in told] if kind in {"member", "held"} else told
        written = [path in api.symbols for path in reached]
        known = [api.symbols[path]["canonical_path"] if path in api.symbols else path for path in reached]
        paths.update(known)
        if kind in {"module", "name"}:
            certain.append(written[0])
        elif kind != "object":
            shown = [path in api.canonical for path in known]
            certain.append(shown[0] if kind == "member" else any(shown))
    of_object = any(kind in {"member", "held"} for kind, *_ in records)
    return Fact(site.end, bool(certain) and all(certain), of_object, tuple(sorted(paths))) if paths else None


def of_file(traced: Traced, path: str, apis: Mapping[str, Public]) -> tuple[list[int], dict[str, list[Fact]]]:
    """Return the ends of the sites of a file that ran, and by library the facts about them."""
    first, sites = traced.sites[path]
    ran = [(site, traced.told[first + i]) for i, site in enumerate(sites) if first + i in traced.told]
    uses = {}
    for library, api in apis.items():
        own = ((site, sorted(r for r in told if r[1].partition(".")[0] in api.roots)) for site, told in ran)
        found = [fact for site, records in own if (fact := fact_of(site, records, api))]
        if any(fact.certain for fact in found):
            uses[library] = sorted(found, key=lambda fact: fact.end)
    return sorted(site.end for site, _ in ran), uses


def drawn(traced: Traced, apis: Mapping[str, Public], source: Sdist) -> dict[str, Any]:
    """Return facts of files drawn by the hash of their path, until there are ENOUGH certain uses."""
    files: dict[str, Any] = {}
    enough = 0
    for path in sorted(traced.sites, key=lambda path: hashlib.sha256(path.encode()).digest()):
        ran, uses = of_file(traced, path, apis)
        if uses and enough < ENOUGH and len(files) < FILES:
            enough += sum(fact.certain for facts in uses.values() for fact in facts)
            digest = hashlib.sha256(source.files[path]).hexdigest()
            files[path] = {"sha256": digest, "ran": _steps(ran), "uses": {lib: _short(f) for lib, f in uses.items()}}
    return files


def _lines(about: Mapping[str, Any]) -> str:
    """Return JSON with a line for each file, so that a difference can be read."""
    files = ",\n".join(f"  {json.dumps(path)}: {json.dumps(told)}" for path, told in about["files"].items())
    head = json.dumps({**about, "files": {}}, indent=1).removesuffix("{}\n}")
    return f"{head}{{\n{files}\n}}}}\n"


def _steps(ends: Iterable[int]) -> str:
    """Return ascending numbers by their differences, which are short."""
    ordered = [0, *ends]
    return " ".join(str(b - a) for a, b in itertools.pairwise(ordered))


def _short(found: Iterable[Fact]) -> dict[str, list[str]]:
    """Return the paths by position; a ? in front says that it is not certain, a . that it is of an object."""
    return {f"{_mark(fact)}{fact.end}": list(fact.paths) for fact in found}


def _mark(fact: Fact) -> str:
    return "?" if not fact.certain else "." if fact.of_object else ""


def main() -> None:
    """Derive the facts of the projects named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=Path, default=TRUTH)
    arguments = parser.parse_args()
    for made_of in projects():
        if arguments.names and made_of.name not in arguments.names:
            continue
        with TemporaryDirectory() as folder:
            try:
                _derive(made_of, Path(folder), arguments.out)
            except Exception as error:  # noqa: BLE001 - the others go on, and it is said
                Console().print(f"{made_of.name}: {type(error).__name__}: {str(error)[:500]}")


def _derive(made_of: Project, folder: Path, out: Path) -> None:
    source = sdist(made_of.name, everything=True)
    if source is None:
        raise LookupError("no source distribution")
    environment, versions = environment_of(made_of, source.version, folder / "environment")
    roots = [root for library in made_of.libraries for root in symbols_of(library, versions[library])[1]]
    traced = trace(made_of, source, environment, roots)
    apis = {library: public(library, versions[library]) for library in made_of.libraries}
    files = drawn(traced, apis, source)
    if files:
        out.mkdir(parents=True, exist_ok=True)
        head = {"project": made_of.name, "version": source.version, "sha256": source.sha256}
        about = head | {"libraries": {name: versions[name] for name in apis}, "files": files}
        (out / f"{made_of.name}.json").write_text(_lines(about))
    marks = [mark for file in files.values() for own in file["uses"].values() for mark in own]
    certain = sum(not mark.startswith("?") for mark in marks)
    log = (traced.log.strip().splitlines() or [""])[-1]
    Console().print(f"{made_of.name} {source.version}: {len(files)} files, {certain} certain of {len(marks)}; {log}")


if __name__ == "__main__":
    main()
