"""Source of later Pythons, rewritten for the one that reads it, and held against what those make of it."""

import ast
import inspect
import json
import subprocess

import pytest
from packaging.version import Version

from pipeline.api.surface.parse.modern import as_older
from pipeline.execution.environments.resolution.interpreters import discover
from tests.api.surface.trees import rows, surface

SOURCE = '''
import warnings
# class Comment[T]: stays
type Pairs[T: (int, str) = int, *Ts = *tuple[int, ...], **P = [int, "]"]] = dict[
    T, int]
type Plain = int | str
if warnings:
    type Inner[
        A,  # [
    ] = (
        list[A]
    )
async def first[
    T: dict[str, list[int]] = dict[str, list[int]],
    **P,
](x: T, *args: P.args, **kwargs: P.kwargs) -> T:
    """class Doc[T]: stays

def neither[T](): ...
    """
    warnings.warn(f"{x["a"]} is old since {"1.0"}", DeprecationWarning)
class Box[T, U = T](Base[T], metaclass=M):
    size: int = 3
    def put[V](self, value: V = f"{"x"}", /, *, key: str = 'a') -> V: ...
class Bare[T]:
    type Own = int
joined = f"{x["a"]!r:>{w["b"]}} {"\\n".join(y)} {plain}"
long = f"""{
    x["b"]  # why
}
  more
"""
folded = f"{
    x
}"; after = 1
simple, type = f"{x!r:>10}", 3
type[0] = 4
print(type [0])
def last(x): return x
'''


def names(tree: ast.AST) -> list[list[object]]:
    """Return name, line, parameters and bases of what a tree defines."""
    found: list[list[object]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            found.append([node.name, node.lineno, [arg.arg for arg in every if arg], ast.get_docstring(node, False)])
        elif isinstance(node, ast.ClassDef):
            found.append([node.name, node.lineno, [ast.unparse(base) for base in node.bases], None])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append([node.id, node.lineno, [], None])
    return sorted(found, key=str)


PROGRAM = f"import ast, json, sys\n{inspect.getsource(names)}\nprint(json.dumps(names(ast.parse(sys.stdin.read()))))"


def test_later_pythons_find_the_same_names_on_the_same_lines():
    older = as_older(SOURCE)
    assert older is not None
    newest = discover()[-1]
    assert Version(newest.full) >= Version("3.13")
    done = subprocess.run([newest.path, "-c", PROGRAM], input=SOURCE, capture_output=True, text=True, check=True)
    assert names(ast.parse(older)) == json.loads(done.stdout)
    assert older.count("\n") == SOURCE.count("\n")


@pytest.mark.parametrize("source", ["", "type = 3\nprint 'old'\n", "x: int = 1\n", "def f(): return 'a[1]'\n"])
def test_a_source_without_later_syntax_is_left_alone(source):
    assert as_older(source) is None


def test_a_file_of_later_pythons_is_read():
    found = rows({"pkg.py": SOURCE})
    assert {"pkg.first", "pkg.Box.put", "pkg.Box.size", "pkg.Bare", "pkg.joined", "pkg.after", "pkg.last"} <= set(found)
    assert [(p["name"], p["kind"]) for p in found["pkg.Box.put"]["parameters"]] == [
        ("value", "positional_only"),
        ("key", "keyword_only"),
    ]
    assert found["pkg.Box"]["bases"] == ["Base[T]"]
    assert found["pkg.first"]["deprecation"]["message"] == "… is old since …"


def test_template_strings_are_read():
    # PEP 750, Python 3.14
    assert rows({"pkg.py": 't = t"{x}"\nu = rt"{y["a"]}"\ndef f(): ...\n'}).keys() == {"pkg", "pkg.t", "pkg.u", "pkg.f"}


def test_a_rewritten_file_is_no_longer_in_the_encoding_that_it_declares():
    told = "# -*- coding: latin-1 -*-\ndef f():\n    'Grüße.'\n"
    for source in (told + "    print 1\n", told + "def g[T](): ...\n"):
        [document] = [
            d for d in surface({"pkg.py": source.encode("latin-1")}).documents.values() if d["path"] == "pkg.f"
        ]
        assert document["docstring"] == "Grüße."


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("def f():\n    print '%f' % 1\n", "py2"),
        ("x = 0777\ny = '%f'\ndef f(): ...\n", "py2"),
        ("def f[T]():\n    '''As\n    print 'x' does.\n    '''\n", "py"),
        ("def f():\n    '''\n    print 'x'\n    '''\n\ntype X = int\ny = f'{x['a']}'\n", "py"),
    ],
)
def test_old_and_later_sources_are_told_apart(text, source):
    assert rows({"pkg.py": text})["pkg.f"]["source"] == source
