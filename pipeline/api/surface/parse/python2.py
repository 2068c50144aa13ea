"""Python 2 source rewritten so that Python 3 parses it, line by line the same.

Signatures, class bodies, docstrings and warnings stay as they are; what a body prints does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain

import more_itertools
import tree_sitter

from pipeline.api.surface.parse.bodies import Body
from pipeline.api.surface.parse.edits import Edit, captured, edited
from pipeline.api.surface.parse.pieces import FunctionParser, cut_out, parse_alone

# strings and comments come first: what is inside them is text; inside words nothing begins
_TOKENS = re.compile(
    r"""
    (?:(?=[^\w\s])|^|\b(?=\w))(?:(?P<comment>\#[^\n]*)
    |(?P<string>(?:(?<!\w)(?P<prefix>[uUbBrRfF]{1,2}))?(?:
        \"{3}[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+\"{3}|'{3}[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'{3}
        |"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'))
    |(?P<constant>^[ \t]*\(?(?:True|False|None)\b(?:[ \t]*,[ \t]*(?:True|False|None)\b)*[ \t]*\)?[ \t]*=(?!=))
    |(?P<indent>^[ ]*\t[ \t]*)
    |(?P<number>(?<![\w.])(?<![eE][+-])(?:0[xX][\da-fA-F]+|\d+)[lL]?(?![\w.]))
    |(?P<backtick>`)
    |(?P<unequal><>)
    |(?P<exec>(?<![\w.])exec(?=[ \t]+[\w'"]|['"]))
    |(?P<name>\b(?:async|await)\b|(?<=\.)(?:True|False|None)\b))
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)

_OTHER = re.compile(r"\t|\\[NuU]")
_EXEC = b"print >>exec,"

_QUERY = """
(print_statement) @print
(except_clause) @except
(raise_statement (expression_list)) @raise
(parameters (tuple_pattern) @tuple)
(lambda_parameters (tuple_pattern) @tuple)
(default_parameter name: (tuple_pattern) @tuple)
(for_in_clause) @for
"""


def modernise(text: str, parse_function: FunctionParser = parse_alone) -> str:
    """Return Python 2 source as source that Python 3.11 parses, with every line in its place.

    A name that is a keyword by now is written in letters that Unicode takes for the same (NFKC, PEP 3131), so that
    the parser reads the very name. A tuple among the parameters, `(b, c)`, which has no name that a caller could use,
    becomes `b_c`, as 2to3 does it in lambdas, and can be given by position only, as what stands before it.
    Functions that parse already, which most do, are left out of it; `parse_function` may remember them.
    Of what is no Python 2 either something comes that does not parse.
    """
    rest, cuts = cut_out(text, lambda function: _as_it_is(parse_function(function)))
    source = _tokens(rest).encode()
    nodes = [(kind, node) for kind, matches in captured(source, _QUERY).items() for node in matches]
    lines = edited(source, (edit for kind, node in nodes for edit in _REWRITES[kind](node, source))).split("\n")
    written = text.split("\n")
    for first, body in chain.from_iterable(cuts.values()):
        place = slice(first - 1, first - 1 + body.height)
        lines[place] = written[place]
    return "\n".join(lines)


def _as_it_is(body: Body | None) -> Body | None:
    """Return the body of a function that is the same in Python 2 and 3: tabs and escapes may not be."""
    return None if body is None or not body.parses or _OTHER.search(body.text) else body


def _tokens(text: str) -> str:
    """Rewrite what can be told from one token: prefixes, numbers, backticks, `<>`, tabs, names."""
    unicode = "unicode_literals" in text
    asynchronous = re.search(r"\basync\s+(def|with|for)\b", text) is not None
    opened = False

    def rewrite(token: re.Match[str]) -> str:
        nonlocal opened
        whole = token[0]
        match token.lastgroup:
            case "string":
                return _string(token, unicode)
            case "indent":
                return whole.expandtabs(8)
            case "number":
                return _number(whole)
            case "unequal":
                return "!="
            case "exec":
                # the grammar takes any expression after `print`, and only names and strings after `exec`
                return _EXEC.decode()
            case "backtick":
                opened = not opened
                return "repr(" if opened else ")"
            case "constant":
                return re.sub(r"\w+", _as_name, whole.expandtabs(8))
            case "name" if not (asynchronous and whole in {"async", "await"}):
                return _as_name(token)
        return whole

    return _TOKENS.sub(rewrite, text)


def _as_name(token: re.Match[str]) -> str:
    """Return a keyword as an identifier: its last letter fullwidth is another token, and the same name (NFKC)."""
    return token[0][:-1] + chr(ord(token[0][-1]) + 0xFEE0)


def _string(token: re.Match[str], unicode: bool) -> str:
    """Return a string literal with the meaning that it has in Python 2."""
    prefix = (token["prefix"] or "").lower()
    body = token[0][len(prefix) :]
    if prefix == "ur":
        return "r" + body
    if "b" in prefix and not body.isascii():
        return prefix.replace("b", "") + body
    if not prefix and not unicode and "\\" in body:
        # without `u`, `\N` and `\u` are no escapes
        return re.sub(r"\\(?:([NuU])|(.))", lambda m: "\\\\" + m[1] if m[1] else m[0], body, flags=re.DOTALL)
    return token[0]


def _number(text: str) -> str:
    digits = text.rstrip("lL")
    octal = len(digits) > 1 and digits[0] == "0" and digits.strip("01234567") == "" and digits.strip("0") != ""
    return "0o" + digits[1:] if octal else digits


def _print(node: tree_sitter.Node, source: bytes) -> Iterator[Edit]:
    text = source[node.start_byte : node.end_byte]
    if text.startswith(_EXEC):
        yield node.start_byte, node.start_byte + len(_EXEC), b"exec("
        yield node.end_byte, node.end_byte, b")"
    else:
        yield node.start_byte, node.end_byte, b"pass" + b"\\\n" * text.count(b"\n")


def _except(node: tree_sitter.Node, source: bytes) -> Iterator[Edit]:
    comma = next((child for child in node.children if child.type == ","), None)
    values = node.children_by_field_name("value")
    if comma is not None and len(values) == 2:
        if values[1].type == "identifier":
            yield comma.start_byte, comma.end_byte, b" as "
        else:
            yield comma.start_byte, values[1].end_byte, b""


def _raise(node: tree_sitter.Node, source: bytes) -> Iterator[Edit]:
    values = more_itertools.first(child for child in node.children if child.type == "expression_list")
    comma = more_itertools.first(child for child in values.children if child.type == ",")
    yield comma.start_byte, comma.end_byte, b"("
    yield values.end_byte, values.end_byte, b")"


def _tuple(node: tree_sitter.Node, source: bytes) -> Iterator[Edit]:
    names = re.findall(rb"\w+", source[node.start_byte : node.end_byte])
    lines = source[node.start_byte : node.end_byte].count(b"\n")
    gap = b" " if source[node.start_byte - 1 : node.start_byte].isalnum() else b""
    yield node.start_byte, node.end_byte, gap + b"_".join(names) + b"\n" * lines
    own = node.parent if node.parent is not None and node.parent.type == "default_parameter" else node
    if b"," in source[node.start_byte : node.end_byte] and not _before_another(own):
        yield own.end_byte, own.end_byte, b", /"


def _before_another(parameter: tree_sitter.Node) -> bool:
    """Return whether another tuple follows among the parameters."""
    following = parameter.next_named_sibling
    while following is not None:
        name = following.child_by_field_name("name") if following.type == "default_parameter" else following
        if name is not None and name.type == "tuple_pattern":
            return True
        following = following.next_named_sibling
    return False


def _for(node: tree_sitter.Node, source: bytes) -> Iterator[Edit]:
    values = node.children_by_field_name("right")
    if len(values) > 1:
        yield values[0].start_byte, values[0].start_byte, b"("
        yield values[-1].end_byte, values[-1].end_byte, b")"


_REWRITES: dict[str, Callable[[tree_sitter.Node, bytes], Iterator[Edit]]] = {
    "print": _print,
    "except": _except,
    "raise": _raise,
    "tuple": _tuple,
    "for": _for,
}
