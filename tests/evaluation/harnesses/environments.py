"""Environments with extras that are in no lock."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.core.settings import PROJECT

_UNREACHABLE = re.compile(r"No matching distribution found for (inspect-ai|verifiers)|Connection|Temporary failure")


def installed(environment: Path, extras: str) -> Path:
    """Install this project with extras, in versions that its bounds allow; skips where the index has it not."""
    source = environment.parent / "source"
    # not from the checkout, so that nothing of it is written
    shutil.copytree(PROJECT, source, ignore=shutil.ignore_patterns(".*", "data", "tests", "__pycache__"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(environment), "install", "-q"]
    command = [*pip, "--no-compile", "-e", f"{source}[{extras}]"]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=1800)
    if done.returncode and (missing := _UNREACHABLE.search(done.stderr)):
        pytest.skip(f"the package index cannot be asked for {extras}: {missing[0]}")
    assert done.returncode == 0, done.stderr
    return environment
