"""Python 2 files: what Python 3 refuses is rewritten, what stands in signatures and docstrings is not."""

import ast
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.api.surface.parse.python2 import modernise
from pipeline.api.surface.visit import UnparsedError, visit_file
from tests.api.surface.trees import SURFACE_RULES
from tests.errors import raises


def signatures(text: str) -> list[str]:
    return [f"{n.name}({ast.unparse(n.args)})" for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print 'a', b,", "pass"),
        ("print >>f, 'x' % y; z = 1", "pass\nz = 1"),
        ("if x: print 'b'\nelse: print 'c'", "if x:\n    pass\nelse:\n    pass"),
        ("print('a'), b", "(print('a'), b)"),
        ("print'`a`'; x = '`b`'", "pass\nx = '`b`'"),
        ("x = f'`{a}`' + rb'`'; print x", "x = f'`{a}`' + b'`'\npass"),
        ("exec code", "exec(code)"),
        ("exec 'import %s' % name in scope, local", "exec('import %s' % name in scope, local)"),
        ("exec code.read()\nx = 1", "exec(code.read())\nx = 1"),
        ("try: pass\nexcept X,e: pass", "try:\n    pass\nexcept X as e:\n    pass"),
        ("try: pass\nexcept (A, B), self.e: pass", "try:\n    pass\nexcept (A, B):\n    pass"),
        ("raise X, 'm'", "raise X('m')"),
        ("raise X, ('m' %\n  y), tb", "raise X('m' % y, tb)"),
        ("x = `a` + `b, c`", "x = repr(a) + repr(b, c)"),
        ("a <> b", "a != b"),
        ("x = 0777 + 1L + 0xFFL + 0 + 00 + 1e-05", "x = 511 + 1 + 255 + 0 + 0 + 1e-05"),
        ("x = ur'\\d', u'a', '\\N', '\\\\N', u'\\u0041'", "x = ('\\\\d', u'a', '\\\\N', '\\\\N', u'A')"),
        ("lambda(a): a", "lambda a: a"),
        ("[x for x in 1, 2]", "[x for x in (1, 2)]"),
        ("True, False = 1, 0", "True, False = (1, 0)"),
        ("x.None = constants.False", "x.None = constants.False"),
        ("async = f(async=1).await()", "async = f(async=1).await()"),
        ("class A:\n\tdef f(self):\n        \treturn 1", "class A:\n\n    def f(self):\n        return 1"),
        ("x = 'print x, `y`, 0777'  # print `", "x = 'print x, `y`, 0777'"),
    ],
)
def test_constructs(old, new):
    made = modernise(old + "\n")
    assert ast.unparse(ast.parse(made)) == new
    assert made.count("\n") == (old + "\n").count("\n")


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("def f(self, (x, y), size=0x10L, async=None): print self", "f(self, x_y, /, size=16, async=None)"),
        ("def f(a=None, b=True, c=False): print a", "f(a=None, b=True, c=False)"),
        ("def f((a, (b, c))=(1, (2, 3))): print a", "f(a_b_c=(1, (2, 3)), /)"),
        ("def f(a, (b, c), (d, e)=(1, 2), *args): print a", "f(a, b_c, d_e=(1, 2), /, *args)"),
        ("def f((a), b): print a", "f(a, b)"),
        ("def f(mode=0644, text=ur'\\n', *args, **kw): print mode", "f(mode=420, text='\\\\n', *args, **kw)"),
    ],
)
def test_signatures_are_what_they_were(signature, expected):
    assert signatures(modernise(signature + "\n")) == [expected]


def test_constants_stay_constants():
    (function,) = ast.parse(modernise("def f(a=None, b=True): print a\n")).body
    assert isinstance(function, ast.FunctionDef)
    assert [type(default) for default in function.args.defaults] == [ast.Constant, ast.Constant]


def test_lines_stay_where_they_are():
    text = (
        'def f(a,\n      (b,\n       c)):\n    print """x\n\n    """ % (a,\n      b)\n    return a\n\n\ndef g(): pass\n'
    )
    (_, g) = ast.parse(modernise(text)).body
    assert g.lineno == text.splitlines().index("def g(): pass") + 1


def test_docstrings_and_warnings_are_exact():
    text = (
        'def f():\n    """Print `x`, 0777 <> 1L.\n\n    >>> print f()\n    """\n'
        "    warnings.warn('f is gone,\\n use `g`', DeprecationWarning)\n    print 1\n"
    )
    (function,) = ast.parse(modernise(text)).body
    (before,) = ast.parse(text.replace("    print 1\n", "")).body
    assert isinstance(function, ast.FunctionDef)
    assert isinstance(before, ast.FunctionDef)
    assert [ast.dump(s) for s in function.body[:2]] == [ast.dump(s) for s in before.body]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("print 'a'\nfrom a b\n", "line 2"),
        ("x = 1\n{{ name }} = print\n", "line 2"),
        ("type X = int\n", "line 1"),
        ("x = '\n", "line 1"),
    ],
)
def test_what_is_no_python_2_either_is_an_error_with_its_line(text, line):
    with raises(UnparsedError, line):
        visit_file("pkg", "pkg.py", modernise(text).encode(), SURFACE_RULES, unsure=True)


@given(st.text(alphabet="print exc'\"`<>()=:,\\\t\n#u0L7fd", max_size=60))
def test_any_text_is_read_or_said_not_to_parse(text):
    with contextlib.suppress(UnparsedError):
        assert visit_file("pkg", "pkg.py", modernise(text).encode(), SURFACE_RULES, unsure=True).problem is None


def test_bodies_that_do_not_parse_are_seen_where_it_is_unsure():
    text = "def f(a):\n    return {{ name }\n"
    assert "f" in visit_file("pkg", "pkg.py", text.encode(), SURFACE_RULES).definitions
    with raises(UnparsedError, "line 2"):
        visit_file("pkg", "pkg.py", text.encode(), SURFACE_RULES, unsure=True)


@given(
    st.sampled_from(["x = 1", "def f(a, *, b=None): ...", "async def f(): await g()", "print(a, file=b)", "exec(a)"])
)
def test_python_3_stays_as_it_is(text):
    assert modernise(text + "\n") == text + "\n"


def test_functions_that_parse_already_stay_as_they_are():
    text = (
        "import os\nclass A:\n    # f prints\n    @property\n    def f(self):\n        print >>out, 0\n\n        # end of f\n\n"
        "    def g(self):\n        print 1\n\n    def h(self):\n        return '''\nprint `x`\n'''\n\nx = 0777\n"
    )
    expected = text.replace("print 1", "pass").replace("0777", "0o777")
    assert modernise(text) == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("def f(a='\\u0041', b=u'\\u0041'):\n    return a\n", r"f(a='\\u0041', b=u'A')"),
        ("def f(a='\\N', b=r'\\N'):\n    return a\n", r"f(a='\\N', b='\\N')"),
    ],
)
def test_functions_that_parse_already_and_mean_something_else_do_not(function, expected):
    made = modernise(f"import os\n{function}\nprint 1\n")
    assert signatures(made) == [expected]


def test_tabs_count_the_same_in_functions_that_parse_and_in_the_rest():
    text = "import os\nclass A:\n        x = 0777\n\tdef f(self):\n\t\treturn 1\n"
    (_, made) = ast.parse(modernise(text)).body
    assert isinstance(made, ast.ClassDef)
    assert [type(statement) for statement in made.body] == [ast.Assign, ast.FunctionDef]
