"""The provider's SDK takes a second to import, which only who asks a model should wait for."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["pipeline.cli", "pipeline.stages"])
def test_nothing_imports_the_sdk_before_a_model_is_asked(module: str) -> None:
    code = f"import {module}, sys; print('anthropic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
