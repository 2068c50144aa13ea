"""A program without an API: it does nothing, under whatever name of its library it is reached."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pipeline.families.model_migrations.environment_verdicts import without


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        (
            "json.JSONDecoder",
            "import json.decoder as d, json\nprint(json.JSONDecoder(), d.JSONDecoder(1))",
            "None None",
        ),
        (
            "json.decoder.JSONDecoder.decode",
            "import json\nprint(json.JSONDecoder().decode('1'), json.loads('1'))",
            "None None",
        ),
        ("json.dumps", "import json\nprint(json.dumps([]), json.loads('1'))", "None 1"),
        ("json.gone", "import json\nprint(json.loads('1'))", "AttributeError"),
        ("builtins.str.upper", "print('a'.upper())", "TypeError"),
        ("nothing_of_that_name.x", "print(1)", "1"),
    ],
)
def test_what_stands_at_a_path_does_nothing_where_it_can_be_replaced(path: str, code: str, said: str) -> None:
    row = without({"id": "r", "preamble": "", "code": code}, path)
    assert row["id"] != "r"
    ran = subprocess.run([sys.executable, "-I", "-c", row["preamble"] + row["code"]], capture_output=True, text=True)
    assert said in (ran.stdout if not ran.returncode else ran.stderr)
