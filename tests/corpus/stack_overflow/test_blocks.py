"""Which blocks are code of the library's language."""

from __future__ import annotations

import pytest

from pipeline.core.rules.load import RULES
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language
from pipeline.corpus.stack_overflow.blocks import refusal
from pipeline.corpus.stack_overflow.markup import Segment
from pipeline.corpus.stack_overflow.mentions import stack_overflow_rules

BLOCKS = stack_overflow_rules(RULES).blocks
JAVA, CSHARP, JAVASCRIPT, PYTHON = Language.JAVA, Language.CSHARP, Language.JAVASCRIPT, Language.PYTHON


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (JAVA, "Gson gson = new Gson();\nString text = gson.toJson(value);"),
        (JAVA, "public class A {\n  void f() { int x = 1; }\n}"),
        (JAVA, "@Override\npublic String f() {\n  return null;\n}"),
        (JAVA, "import a.B;\n\nclass C {}"),
        (CSHARP, "var x = JsonConvert.DeserializeObject<Foo>(json);\nConsole.WriteLine(x);"),
        (CSHARP, "public class A : B\n{\n    public int X { get; set; } = 1;\n}"),
        (CSHARP, "public async Task<int> F()\n{\n    return await G();\n}"),
        (JAVASCRIPT, "$('#a').on('click', e => {\n  e.preventDefault();\n});"),
        (JAVASCRIPT, "import {a} from 'b';\nexport default () => <div>{a}</div>;"),
        (JAVASCRIPT, "const {x, ...rest} = await f();\nconsole.log(`${x}`);"),
        (PYTHON, "this is not\nchecked here"),
    ],
)
def test_code_is_accepted(language: Language, code: str) -> None:
    assert refusal(Segment(code, True, 1), language, BLOCKS) is None


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (JAVA, 'Exception in thread "main" java.lang.NullPointerException\n  at foo.Bar(Bar.java:3)'),
        (JAVA, "<dependency>\n  <artifactId>gson</artifactId>\n</dependency>"),
        (JAVA, "just words here\nand more of them"),
        (CSHARP, "System.NullReferenceException: Object\n  at Foo.Bar() in c:\\x.cs:line 3"),
        (CSHARP, "SELECT * FROM a\nWHERE x = 3"),
        (JAVASCRIPT, "<div>\n  <p>text</p>\n</div>"),
        (JAVASCRIPT, '{\n  "dependencies": {"jquery": "^3.5.1"}\n}'),
        (JAVASCRIPT, "npm ERR! something went wrong\nnpm install jquery"),
        (JAVASCRIPT, "class A {\n  constructor(private x: Foo) {}\n}"),
        (JAVASCRIPT, "// only a comment\n// and another"),
        (JAVASCRIPT, "((((\n))"),
    ],
)
def test_code_of_another_language_is_refused(language: Language, code: str) -> None:
    refused = refusal(Segment(code, True, 1), language, BLOCKS)
    assert refused
    assert refused[0] is RejectReason.BROKEN_EXAMPLE


@pytest.mark.parametrize(
    ("segment", "language", "reason"),
    [
        (Segment("f();", True, 1), JAVASCRIPT, RejectReason.TOO_SHORT),
        (Segment("x" * (BLOCKS.max_characters + 1), True, 1), PYTHON, RejectReason.TOO_LONG),
        (Segment("f()\ng()", True, 1, "py"), JAVASCRIPT, RejectReason.NO_USE),
        (Segment("SELECT 1", True, 1, "sql"), PYTHON, RejectReason.NO_USE),
        (Segment("f()", True, 1, "PY"), PYTHON, None),
        (Segment("f();\ng();", True, 1, "c#"), CSHARP, None),
    ],
)
def test_other_reasons(segment: Segment, language: Language, reason: RejectReason | None) -> None:
    refused = refusal(segment, language, BLOCKS)
    assert (refused[0] if refused else None) is reason
