from __future__ import annotations

import pytest

from pipeline.core.rules.load import RuleError, load
from pipeline.execution.environments.resolution.failures import FailureRules, Sign, failure_rules
from tests.errors import raises

RULES = failure_rules()
EXAMPLES = [(sign, example) for sign in RULES.signs for example in sign.examples]


@pytest.mark.parametrize(("sign", "example"), EXAMPLES, ids=lambda value: getattr(value, "missing", None) or "sign")
def test_the_first_sign_in_a_log_decides(sign: Sign, example: object) -> None:
    """Each example is told by its own sign, although others are asked before."""
    log = f"Collecting\n{example.log}\nerror: subprocess-exited-with-error"  # type: ignore[attr-defined]
    assert RULES.missing(sign.step, log) == (sign.kind, example.missing)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("step", "log"),
    [
        ("import", "ModuleNotFoundError: No module named 'pkg_resources'"),
        ("import", "ImportError: cannot import name 'soft_unicode' from 'markupsafe'"),
        ("import", "FileNotFoundError: [Errno 2] No such file or directory: '/nonexistent'"),
        ("build", "error: invalid command 'bdist_wheel'"),
        ("build", "ImportError: cannot import name 'Feature' from 'setuptools'"),
        ("build", "lib.c:3:5: error: unknown type name 'foo'"),
        ("build", "AttributeError: module 'collections' has no attribute 'Mapping'"),
    ],
)
def test_other_failures_lack_nothing_of_the_system(step: object, log: str) -> None:
    assert RULES.missing(step, log) is None  # type: ignore[arg-type]


def test_a_sign_that_is_wrong_about_its_example_is_an_error(tmp_path: object) -> None:
    path = tmp_path / "failures.yaml"  # type: ignore[operator]
    path.write_text("signs:\n- {step: build, kind: tool, pattern: 'no (x)', examples: [{log: no y, missing: y}]}\n")
    with raises(RuleError, "failures.yaml:2", "signs.0", code="rule_example_wrong"):
        load(path, FailureRules)
