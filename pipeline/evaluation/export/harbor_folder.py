"""The folder of a task of Harbor: settings, instruction, images and scripts that all families have alike."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import ceil

from pipeline.evaluation.export.archive import archive
from pipeline.evaluation.export.environments import check_lock
from pipeline.evaluation.export.format import ExportError
from pipeline.evaluation.prompts.make import Prompt
from pipeline.evaluation.scores.tasks import Task
from pipeline.execution.environments.resolution.pinned import read_lock
from pipeline.execution.environments.store import Locked
from pipeline.lake.ids import sha256_text
from pipeline.lake.rows import AnyRow

ENVIRONMENT = "/opt/environment"
_PROGRAM = "pipeline.evaluation.export.beside.verify"
_HARNESS = (
    "pipeline.execution.validation.inside",
    "pipeline.execution.sandbox.drop_privileges",
    "pipeline.families.repository_tasks.inside",
)
_PYTHON = re.compile(r"3\.\d{1,2}")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_AGENT_S = 900.0
_NOTE = """
---

Do not answer in text: your answer is a file. `{artifact}` {place}
`{environment}/bin/python` is a Python {python} with {packages}.
Whatever is said above of the form of an answer, the file holds code alone.
"""
_TEST = """#!/bin/sh
# Judges the file of the answer and writes /logs/verifier/reward.txt.
exec python3 -I "$(dirname "$0")/verifier.pyz"
"""
_BASE = """# The interpreter of the verifier, and uv with the environment in which the reference was run.
FROM python:3.11-{image}
COPY --from=ghcr.io/astral-sh/uv:0.9.7 /uv /usr/local/bin/uv
ENV UV_PYTHON_INSTALL_DIR=/opt/python UV_LINK_MODE=copy UV_NO_CACHE=1
RUN uv venv --python {python} {environment}
"""
_INSTALL = """COPY {file} /opt/{file}
RUN uv pip install --python {environment} --no-deps --require-hashes {options}-r /opt/{file}
"""


@dataclass(frozen=True, slots=True)
class Folder:
    """A task of a snapshot with all that its folder states; `run_s` bounds one judgement in seconds.

    `artifact` is the file of the answer in the containers, `place` the sentence that follows its name in the
    instruction, and `packages` what the environment of the agent has.
    """

    task: Task
    row: AnyRow
    prompt: Prompt
    environment: Locked
    snapshot: str
    manifest_sha256: str
    artifact: str
    place: str
    packages: str
    run_s: float
    memory_mib: int

    def __post_init__(self) -> None:
        """Refuse a lock that has more than pins, or a Python that is no version.

        Errors: ExportError.
        """
        check_lock(self.environment)
        if not _PYTHON.fullmatch(self.python):
            lock = f"{self.environment['lock_id']:.40}"
            raise ExportError(
                f"lock {lock}: no Python {self.python!r:.40}: run `driftline verify`", code="export_lock_invalid"
            )

    @property
    def python(self) -> str:
        """The version of Python in its environment."""
        return str(self.environment["python"])

    @property
    def name(self) -> str:
        """The name of the folder; ids of untrusted snapshots may be anything, and are then hashed."""
        family = str(self.task.family).replace("_", "-")
        name = f"{family}-{self.task.id}"
        return name if _NAME.fullmatch(name) else f"{family}-x{sha256_text(self.task.id)[:32]}"

    def base(self, locks: Mapping[str, str]) -> str:
        """Return the beginning of a Containerfile that installs some locks."""
        # Nothing but a source distribution needs compilers.
        image = "bookworm" if len(locks) > 1 else "slim-bookworm"
        return _BASE.format(image=image, python=self.python, environment=ENVIRONMENT)

    def common(self) -> dict[str, bytes]:
        """Return the files by their paths that do not depend on the family."""
        return {
            "task.toml": self._settings().encode(),
            "instruction.md": self._instruction().encode(),
            "tests/test.sh": _TEST.encode(),
            "tests/verifier.pyz": archive(_PROGRAM, *_HARNESS),
        }

    def _instruction(self) -> str:
        note = _NOTE.format(
            artifact=self.artifact,
            place=self.place,
            environment=ENVIRONMENT,
            python=self.python,
            packages=self.packages,
        )
        # Harbor takes such a first line away before an agent sees the rest.
        canary = f"<!-- canary {' '.join(self.prompt.canary.split()).replace('--', '')} -->\n\n"
        system = f"{self.prompt.system.strip()}\n\n" if self.prompt.system else ""
        return f"{canary}{system}{self.prompt.prompt.rstrip()}\n{note}"

    def _settings(self) -> str:
        row, columns = self.row, ("library", "version", "granularity", "scene", "licence")
        return _toml(
            {
                "": {"schema_version": "1.4", "artifacts": [self.artifact]},
                "task": {
                    "name": f"driftline/{self.name}",
                    "description": f"{self.task.family.meaning}: {row['library']} {row['version']}",
                    "keywords": ["driftline", str(self.task.family)],
                },
                "metadata": {
                    "id": self.task.id,
                    "family": str(self.task.family),
                    **{column: row[column] for column in columns if row.get(column)},
                    "setting": self.prompt.setting,
                    "snapshot": self.snapshot,
                    "manifest_sha256": self.manifest_sha256,
                    "canary": self.prompt.canary,
                },
                # A run without a verdict is repeated once.
                "verifier": {"environment_mode": "separate", "timeout_sec": float(ceil(2 * self.run_s) + 60)},
                "verifier.environment": {"network_mode": "no-network", "memory_mb": self.memory_mib + 1024},
                "agent": {"timeout_sec": _AGENT_S},
                "environment": {"network_mode": "public", "memory_mb": self.memory_mib + 1024},
            }
        )


def encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    """Return files of texts."""
    return {path: text.encode() for path, text in texts.items()}


def lock_files(lock: str, prefix: str = "") -> tuple[dict[str, str], str]:
    """Return the files of a lock and the lines that install them: wheels, and each source distribution by itself.

    A source distribution is built with requirements of its own time, as it was before.
    """
    blocks = re.findall(r"^\S.*\n(?:[ ].*\n?)*", lock, re.MULTILINE)
    wheels, installs = "", ""
    files: dict[str, str] = {}
    for pin, block in zip(read_lock(lock), blocks, strict=True):
        if pin.built is None:
            wheels += block
            continue
        file = f"{prefix}built-{len(files) + 1}.txt"
        files[file] = block
        options = f"--no-binary {pin.name} --exclude-newer {pin.built.as_of:%Y-%m-%dT%H:%M:%SZ} "
        if pin.built.constraints:
            files[f"constraints-{file}"] = "".join(f"{constraint}\n" for constraint in pin.built.constraints)
            installs += f"COPY constraints-{file} /opt/constraints-{file}\n"
            options += f"--build-constraints /opt/constraints-{file} "
        installs += _INSTALL.format(file=file, environment=ENVIRONMENT, options=options)
    only = (
        _INSTALL.format(file=f"{prefix}lock.txt", environment=ENVIRONMENT, options="--only-binary :all: ")
        if wheels
        else ""
    )
    return {f"{prefix}lock.txt": wheels, **files}, only + installs


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return the digest of a task as Harbor computes it."""
    lines = (f"{path}\0{sha256(content).hexdigest()}\n" for path, content in sorted(files.items()))
    return f"sha256:{sha256(''.join(lines).encode()).hexdigest()}"


def manifest(snapshot: str, manifest_sha256: str, digests: Mapping[str, str]) -> str:
    """Return dataset.toml, with the digest of each folder by its name."""
    name = re.sub(r"[^A-Za-z0-9-]+", "-", snapshot).strip("-") or "snapshot"
    tables: list[tuple[str, Mapping[str, object]]] = [
        ("[dataset]", {"name": f"driftline/{name}", "description": f"the snapshot {snapshot} of Driftline"}),
        *(("[[tasks]]", {"name": f"driftline/{task}", "digest": digest}) for task, digest in sorted(digests.items())),
        ("[metadata]", {"manifest_sha256": manifest_sha256}),
    ]
    return "\n".join(f"{head}\n{_pairs(table)}" for head, table in tables)


def _toml(tables: Mapping[str, Mapping[str, object]]) -> str:
    return "\n".join((f"[{name}]\n" if name else "") + _pairs(table) for name, table in tables.items())


def _pairs(table: Mapping[str, object]) -> str:
    return "".join(f"{name} = {_value(value)}\n" for name, value in table.items())


def _value(value: object) -> str:
    """Return a text, number or list of texts in TOML: strings are those of JSON, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
