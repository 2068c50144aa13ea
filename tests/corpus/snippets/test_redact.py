"""Personal data and secrets become placeholders, and code stays code."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES, load
from pipeline.corpus.snippets.code_sample_rules import Redaction
from pipeline.corpus.snippets.redact import redact
from pipeline.corpus.snippets.rules import SnippetRules

REDACTIONS = load(RULES / "snippets.yaml", SnippetRules).samples.redactions
DATA = [text for rule in REDACTIONS for text in rule.examples]


def python(text: str) -> tuple[str, int]:
    done = redact(text, REDACTIONS, is_python=True)
    return done.text, done.count


CASES = {
    "x = 'ada@acme.com'  # bob@acme.com\n": ("x = 'user1@example.com'  # user2@example.com\n", 2),
    "x = a@b.com\n": ("x = a@b.com\n", 0),
    "x = 'one\\nada@acme.com'\n": ("x = 'one\\nuser1@example.com'\n", 1),
    "x = 'one\\\\nada@acme.com'\n": ("x = 'one\\\\user1@example.com'\n", 1),
    "x = b'ada@acme.com'\n": ("x = b'user1@example.com'\n", 1),
    "x = f'{name}@acme.com ada@acme.com'\n": ("x = f'{name}@acme.com user1@example.com'\n", 1),
    "x = '''\n/home/ada/a\n'''\n": ("x = '''\n/home/user1/a\n'''\n", 1),
    "x = 'é' 'ada@acme.com'\n": ("x = 'é' 'user1@example.com'\n", 1),
    "    x = 'ada@acme.com'\n": ("    x = 'user1@example.com'\n", 1),
    "api_key = 'abc123def456'\n": ("api_key = 'not-a-secret'\n", 1),
    "x = 'broken ada@acme.com\n": ("x = 'broken user1@example.com\n", 1),
    "\fx = '\x85\u2028'\ny = 'ada@acme.com'\n": ("\fx = '\x85\u2028'\ny = 'user1@example.com'\n", 1),
    "x = 1\n": ("x = 1\n", 0),
}


@pytest.mark.parametrize("text", CASES)
def test_only_strings_and_comments_of_python_are_changed(text: str) -> None:
    assert python(text) == CASES[text]


def test_all_of_another_language_is_changed() -> None:
    assert redact('String s = "ada@acme.com"; // 52.14.201.7', REDACTIONS, is_python=False).count == 2


@pytest.mark.parametrize("rule", REDACTIONS, ids=lambda rule: rule.name)
def test_placeholders_are_not_redacted(rule: Redaction) -> None:
    """A second pass changes nothing, so that what was cleaned once has one spelling."""
    for text in rule.examples:
        once = redact(text, REDACTIONS, is_python=False).text
        assert redact(once, REDACTIONS, is_python=False).text == once


def test_a_key_over_several_strings_cannot_be_redacted() -> None:
    lines = [
        "-----BEGIN RSA PRIVATE KEY-----\\n",
        "MIIEowIBAAKCAQEAx0123456789abcdef\\n",
        "-----END RSA PRIVATE KEY-----\\n",
    ]
    code = "key = (\n" + "".join(f"    '{line}'\n" for line in lines) + ")\n"
    assert redact(code, REDACTIONS, is_python=True).unredacted == "private_key"
    whole = "key = '''" + "".join(lines).replace("\\n", "\n") + "'''\n"
    done = redact(whole, REDACTIONS, is_python=True)
    assert (done.unredacted, "MIIE" in done.text, done.count) == (None, False, 1)


@given(
    st.lists(st.one_of(st.sampled_from(DATA), st.text(max_size=10)), max_size=4),
    st.sampled_from(["x = {}\n", "f(\n    {},\n)  # {}\n"]),
)
def test_redacted_code_parses_to_the_same_shape(words: list[str], form: str) -> None:
    literal = repr(" ".join(words))
    code = form.replace("{}", literal)
    done = redact(code, REDACTIONS, is_python=True).text
    assert _shape(done) == _shape(code)


def _shape(code: str) -> list[str]:
    return [type(node).__name__ for node in ast.walk(ast.parse(code))]
