"""The provider's SDK takes a second to import, which only who asks a model should wait for."""

from __future__ import annotations

import subprocess
import sys


def test_nothing_imports_the_sdk_before_the_first_request() -> None:
    code = "import pipeline.orchestration.stages.all_stages, sys; print('anthropic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
