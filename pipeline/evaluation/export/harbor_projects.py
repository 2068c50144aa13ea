"""Harbor's tasks in projects: the agent gets the project without the answer, and the verifier the whole of it."""

from __future__ import annotations

import gzip
import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pipeline.core.vocabularies.exports import Unsupported
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scenes import BODIES
from pipeline.evaluation.export.artifacts import answered_in
from pipeline.evaluation.export.beside import prepare
from pipeline.evaluation.export.format import Refused, Unpack
from pipeline.evaluation.export.harbor_folder import ENVIRONMENT, Folder, encoded, lock_files
from pipeline.evaluation.export.projects import SETTINGS, SourcesMissing, plain_settings
from pipeline.evaluation.scores.tasks import Task
from pipeline.families.all_families import BY_NAME
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.tree import Tree
from pipeline.lake.names import UnsafeName, inner_path
from pipeline.lake.rows import AnyRow, ProjectRow

PACKAGES = "what the project and its tests need; the project itself is imported from `/app`"
_BEGINNINGS = {Family.REPOSITORY_TASK: "raise NotImplementedError", Family.SCENE: ""}
_OF_TREES = ("test_files", "test_folders", "aside", "max_unpacked_bytes", "max_ratio", "files")
_OF_RUNS = ("tests", "test_time_s", "test_calls", "changed_import_cpu_s")
_BODY = (
    "is that file. Write the body in place of `raise NotImplementedError`. Nothing outside of that function may change;"
    " the tests of the project judge it."
)
_CURSOR = (
    "is that file without `<cursor>`. Write the missing code at line {line}, column {column} (both from 1), and change"
    " nothing else; the tests of the project judge it."
)
_START_S = 120.0
_RUNS = 4
"""An answer, its control, that of the project's own code, and a server that is started again."""
_SOLVE = """#!/bin/sh
# Writes the reference.
exec cp "$(dirname "$0")/solution.py" {artifact}
"""
_OF_AGENT = """ENV PATH={environment}/bin:$PATH
ADD project.tar.gz /app
WORKDIR /app
"""
_ADOPT = """COPY prepare.py project.json /opt/
{copies}# Metadata and generated files alone are left of the project's own build, in one layer.
RUN {install} && PYTHONPATH=/opt python3 -c "{program}" && rm -rf /opt/built
"""
_PROGRAM = (
    "import json, pathlib as p, prepare; prepare.adopt(json.load(open('/opt/project.json')), p.Path('/app'),"
    " next(p.Path('{environment}').glob('lib/python*/site-packages')), p.Path('/opt/built'))"
)
_OF_VERIFIER = """RUN {make}
WORKDIR /app
COPY . /tests
RUN chmod -R go= /tests
"""


@dataclass(slots=True)
class InProjects:
    """The projects of a snapshot, and what the folders of their tasks have in common."""

    projects: Mapping[str, ProjectRow]
    unpack: Unpack
    rules: RepositoryRules
    sample_chars: int
    _trees: dict[str, Tree] = field(default_factory=dict)
    _archives: dict[str, bytes] = field(default_factory=dict)
    _without: dict[tuple[str, str], Mapping[str, bytes]] = field(default_factory=dict)

    @property
    def run_s(self) -> float:
        """Seconds that the runs of one answer may take."""
        return _RUNS * (self.rules.time_s + _START_S)

    def tree(self, task: Task, row: AnyRow) -> Tree | Refused:
        """Return the tree of a task's project, or why there is none.

        Errors: Unreachable where the index that has the sources does not answer.
        """
        project = self.projects[row["project_id"]]
        try:
            inner_path(row["path"], "a file of a project")
            if project["id"] not in self._trees:
                self._trees, self._archives, self._without = {project["id"]: self.unpack(project)}, {}, {}
            tree = self._trees[project["id"]]
            if row["path"] not in tree.files or tree.text(row["path"]) is None:
                raise SourcesMissing(f"{project['sdist']}: has no Python file {row['path']}")
        except (SourcesMissing, UnsafeName) as error:
            return Refused(task.family.table, task.id, Unsupported.SOURCES_MISSING, str(error))
        return tree

    def files(self, folder: Folder, tree: Tree) -> dict[str, bytes]:
        """Return the files of a task by their paths in its folder."""
        family, row = folder.task.family, folder.row
        project, path = self.projects[row["project_id"]], row["path"]
        text = tree.text(path) or ""
        begun = {
            path: tree.encoded(path, answered_in(family, row, text, _BEGINNINGS[family])),
            SETTINGS: plain_settings(tree.files),
        }
        agent_tree = Tree(tree.root, {**self._others(project, tree, path), **begun}, tree.rules)
        solution = answered_in(family, row, text, row[BY_NAME[family].reference])
        return folder.common() | {
            **self._agent_image(folder, project, sorted(tree.files.keys() - agent_tree.files.keys())),
            "environment/project.tar.gz": _packed(agent_tree),
            "solution/solve.sh": _SOLVE.format(artifact=shlex.quote(folder.artifact)).encode(),
            "solution/solution.py": tree.encoded(path, solution),
            **self._verifier_image(folder, project),
            "tests/project.tar.gz": self._whole(project, tree),
            "tests/case.json": (
                json.dumps(self._case(folder, tree, project), indent=1, sort_keys=True) + "\n"
            ).encode(),
        }

    def _whole(self, project: ProjectRow, tree: Tree) -> bytes:
        if project["id"] not in self._archives:
            self._archives[project["id"]] = _packed(tree)
        return self._archives[project["id"]]

    def _others(self, project: ProjectRow, tree: Tree, path: str) -> Mapping[str, bytes]:
        key = project["id"], path
        if key not in self._without:
            self._without[key] = tree.without([path])
        return self._without[key]

    def _agent_image(self, folder: Folder, project: ProjectRow, hidden: list[str]) -> dict[str, bytes]:
        """Return the image of the agent, whose environment lacks the installed copy of the project."""
        lock, name = project["lock"] or "", project["project"]
        others, installs = lock_files(prepare.without(lock, name))
        own = "".join(pin for pin in prepare.blocks(lock) if pin.startswith(f"{name}=="))
        own_locks, own_installs = lock_files(own, "own-") if own else ({}, "")
        image = folder.base({**others, **own_locks} if len(own_locks) > 1 else others)
        image += installs + _OF_AGENT.format(environment=ENVIRONMENT)
        files = {f"environment/{file}": content for file, content in {**others, **own_locks}.items() if content}
        if own:
            lines = own_installs.splitlines(keepends=True)
            runs = [line.removeprefix("RUN ").strip() for line in lines if line.startswith("RUN ")]
            install = " && ".join(run.replace("--no-deps", "--target /opt/built --no-deps") for run in runs)
            copies = "".join(line for line in lines if line.startswith("COPY "))
            image += _ADOPT.format(copies=copies, install=install, program=_PROGRAM.format(environment=ENVIRONMENT))
            of_build = {"packages": project["packages"], "import_root": project["import_root"] or "", "hidden": hidden}
            files["environment/project.json"] = json.dumps(of_build, indent=1) + "\n"
            files["environment/prepare.py"] = Path(prepare.__file__).read_text("utf-8")
        return encoded({"environment/Dockerfile": image, **files})

    def _verifier_image(self, folder: Folder, project: ProjectRow) -> dict[str, bytes]:
        locks, installs = lock_files(project["lock"] or "")
        # Harbor puts the agent's file at its own path.
        make = json.dumps(["mkdir", "-p", folder.artifact.rpartition("/")[0]])
        image = folder.base(locks) + installs + _OF_VERIFIER.format(make=make)
        return encoded({"tests/Dockerfile": image, **{f"tests/{file}": content for file, content in locks.items()}})

    def _case(self, folder: Folder, tree: Tree, project: ProjectRow) -> dict[str, object]:
        family, row = folder.task.family, folder.row
        rules = {name: getattr(self.rules, name) for name in (*_OF_TREES, *_OF_RUNS)}
        return {
            "family": family,
            "root": tree.root,
            "path": row["path"],
            "tests": row["tests"] if family is Family.REPOSITORY_TASK else row["unit_test_ids"],
            "packages": project["packages"],
            "scene": [*map(row.__getitem__, ("prefix", "suffix", "test_suffix")), row["block_type"] in BODIES]
            if family is Family.SCENE
            else None,
            "artifact": folder.artifact,
            "environment": ENVIRONMENT,
            "sample_chars": self.sample_chars,
            "rules": {name: sorted(value) if isinstance(value, frozenset) else value for name, value in rules.items()}
            | {"limits": asdict(self.rules.limits)},
        }


def place_of(task: Task, row: AnyRow) -> str:
    """Return the sentence of an instruction that says where in the file the answer is expected."""
    if task.family is Family.REPOSITORY_TASK:
        return _BODY
    before = row["prefix"]
    return _CURSOR.format(line=before.count("\n") + 1, column=len(before.rpartition("\n")[2]) + 1)


def _packed(tree: Tree) -> bytes:
    return gzip.compress(tree.archive, 6, mtime=0)
