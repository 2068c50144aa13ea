"""Signatures as pages show them: as Python writes them, or with optional parameters in brackets: `(a[, b=1[, c]])`."""

from __future__ import annotations

import re

from pipeline.api.surface.extract.inspected import read_signature
from pipeline.lake.rows import SymbolParameter

_PIECE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\w+|\s+|.""", re.DOTALL)


def read_parameters(signature: str | None) -> list[SymbolParameter]:
    """Return the parameters of a signature, from its opening bracket on, without self and cls; none if it is none."""
    if not signature:
        return []
    parameters = read_signature(f"f{signature}", "f")
    if parameters is None:
        parameters = read_signature(f"f{_without_brackets(signature)}", "f") or []
    return [parameter for parameter in parameters if parameter["name"] not in {"self", "cls"}]


def _without_brackets(signature: str) -> str:
    """Return a signature without the brackets around optional parameters; those without a default get one."""
    pieces = _PIECE.findall(signature)
    written: list[str] = []
    parameter: list[str] = []
    depth = optional = 0
    for at, piece in enumerate(pieces):
        opens = depth == 1 and piece == "[" and _is_optional(pieces, at)
        ends = depth == 1 and (opens or piece in ",)" or (piece == "]" and optional > 0))
        if not ends:
            parameter.append(piece)
        else:
            bare = optional > 0 and "=" not in parameter and "".join(parameter).strip()
            written += [*parameter, "=..." if bare else ""]
            parameter = []
            optional += (piece == "[") - (piece == "]")
            written += [piece] if piece in ",)" else []
        if not opens and not (ends and piece == "]"):
            depth += (piece in "([{") - (piece in ")]}")
    return "".join(written + parameter)


def _is_optional(pieces: list[str], at: int) -> bool:
    """Return whether a bracket is one around optional parameters: it opens the signature, or goes on with a comma."""
    before = "".join(pieces[:at]).rstrip()
    return before == "(" or "".join(pieces[at + 1 : at + 3]).lstrip().startswith(",")
