"""Samples to validate: one JSON object a line, each checked by itself, so that a bad one stops no other."""

from __future__ import annotations

import json
import keyword
import re
from typing import Any

from more_itertools import first
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from pipeline.core.errors import CodedError
from pipeline.execution.validation.samples.pins import PinError, contradiction, pins_of

_PYTHON = re.compile(r"3\.\d+")
_PATCH = re.compile(r"(3\.\d+)\.\d+")
_HINTS = {
    "id": "a text of its own",
    "library": "the name of a distribution on the package index, such as numpy",
    "version": 'the release to run in, in quotes, such as "1.21.6"',
    "python": 'the version of Python in quotes, such as "3.9", or leave it out',
    "extra_dependencies": 'a list of requirements, such as ["scipy==1.7.3"], or leave it out',
    "code": "the program to run",
    "test": "assertions to run after the code, or leave it out",
    "test_file": "the source of a pytest module, or leave it out",
    "module": "the name under which test_file imports the code, such as solution",
    "timeout_s": "seconds, more than 0 and at most an hour, or leave it out",
}
FIELDS = tuple(_HINTS)


class SampleError(CodedError, ValueError):
    """A line is not a sample: the message names the field and says what to do; `of` is the id of the line, if any."""

    def __init__(self, message: str, of: str | int | None = None, *, code: str) -> None:
        super().__init__(message, code=code)
        self.of = of


class Sample(BaseModel):
    """A program, the release and Python that it is for, and how to tell whether it is right.

    `test` is run after `code`, in its namespace; `test_file` is a pytest module that imports `code` as `module`. With
    neither the code only has to run to its end.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    id: str | int
    library: str
    version: str
    python: str | None = None
    extra_dependencies: tuple[str, ...] = ()
    code: str = Field(min_length=1)
    test: str | None = None
    test_file: str | None = None
    module: str | None = None
    timeout_s: float | None = Field(None, gt=0, le=3600)

    @field_validator("id", mode="before")
    @classmethod
    def _id(cls, value: Any) -> Any:
        if isinstance(value, bool) or value == "" or value is None:
            raise ValueError("is empty or no text")
        return value

    @field_validator("library")
    @classmethod
    def _library(cls, value: str) -> str:
        try:
            return canonicalize_name(value.strip(), validate=True)
        except InvalidName:
            raise ValueError(f"{value!r} is not a name that a package index can have") from None

    @field_validator("version", mode="before")
    @classmethod
    def _version(cls, value: Any) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            raise ValueError(f"{value} is a number, which may have been {value} or {value}0: write it in quotes")
        try:
            return str(Version(value)) if isinstance(value, str) else value
        except InvalidVersion:
            raise ValueError(f"{value!r} is not a version by PEP 440") from None

    @field_validator("python", mode="before")
    @classmethod
    def _python(cls, value: Any) -> Any:
        if isinstance(value, float):
            if value == 3.1:
                raise ValueError("3.1 is what remains of 3.10 when it is read as a number")
            value = str(value)
        if not isinstance(value, str):
            return value
        if not value.strip():
            return None
        text = _PATCH.sub(r"\1", value.strip())
        if not _PYTHON.fullmatch(text):
            raise ValueError(f"{value!r} is not a Python X.Y from 3.0 on")
        return text

    @field_validator("extra_dependencies", mode="before")
    @classmethod
    def _extra_dependencies(cls, value: Any) -> Any:
        texts = [value] if isinstance(value, str) else value
        if value is None:
            return ()
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError("is neither a list of texts nor a text")
        try:
            return pins_of(texts)
        except PinError as error:
            raise ValueError(str(error)) from None

    @field_validator("timeout_s", mode="before")
    @classmethod
    def _timeout(cls, value: Any) -> Any:
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("test", "test_file", "module")
    @classmethod
    def _nonempty(cls, value: str | None) -> str | None:
        return value if value and value.strip() else None

    @field_validator("code", "test", "test_file", "id")
    @classmethod
    def _text(cls, value: Any) -> Any:
        if isinstance(value, str) and "\0" in value:
            raise ValueError(f"a null byte, character {value.index(chr(0)) + 1}, which no Python source can hold")
        return value

    @field_validator("module")
    @classmethod
    def _module(cls, value: str | None) -> str | None:
        if value and not all(part.isidentifier() and not keyword.iskeyword(part) for part in value.split(".")):
            raise ValueError(f"{value!r} is not a name that can be imported")
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Sample:
        if self.test_file and not self.module:
            raise ValueError("module: missing, and test_file has to import the code; give " + _HINTS["module"])
        if clash := contradiction(self.library, self.version, self.extra_dependencies):
            raise ValueError(f"extra_dependencies: {clash} contradict each other; keep one of them")
        return self


def read_sample(line: bytes) -> tuple[Sample, tuple[str, ...]]:
    """Read one line; return the sample, and the names of the fields that no sample has and that are left aside.

    Errors: SampleError.
    """
    fields = _object(line)
    raw_id = fields.get("id")
    sample_id = raw_id if isinstance(raw_id, str | int) and not isinstance(raw_id, bool) else None
    try:
        sample = Sample.model_validate(fields)
    except ValidationError as error:
        raise SampleError(
            "; ".join(_explain(problem) for problem in error.errors()), sample_id, code="sample_invalid"
        ) from None
    return sample, tuple(sorted(set(fields) - set(FIELDS)))


def _object(line: bytes) -> dict[str, Any]:
    """Parse a line of JSON into an object that says everything once."""
    try:
        text = line.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        place = f"byte 0x{line[error.start]:02x} at column {error.start + 1}"
        raise SampleError(f"not UTF-8 ({place}); save the file as UTF-8", id_in(line), code="sample_not_utf8") from None
    if "\0" in text:
        raise SampleError(
            f"a null byte at column {text.index(chr(0)) + 1}; save the file as UTF-8",
            id_in(line),
            code="sample_null_byte",
        )
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except SampleError as error:
        raise SampleError(str(error), id_in(line), code="sample_field_twice") from None
    except RecursionError:
        raise SampleError(
            "nested too deeply; a sample is one flat object", id_in(line), code="sample_too_deep"
        ) from None
    except ValueError as error:
        problem = f"not JSON ({error}); write one complete object on each line"
        raise SampleError(problem, id_in(line), code="sample_not_json") from None
    if not isinstance(value, dict):
        raise SampleError(
            f"a JSON {type(value).__name__}, not an object; write one object {{…}} on each line",
            code="sample_no_object",
        )
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = first(name for name in names if names.count(name) > 1)
        raise SampleError(f"{twice}: given twice; keep one of them", code="sample_field_twice")
    return fields


def id_in(line: bytes) -> str | None:
    """Return the id of a line that cannot be read as a whole, where it stands first: its verdict should carry it."""
    match = re.match(rb'[\xef\xbb\xbf\s]*\{\s*"id"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.)*")', line[:4096])
    try:
        return str(json.loads(match[1])) if match else None
    except ValueError:
        return None


def _explain(problem: ErrorDetails) -> str:
    """Say what is wrong with a field and what to do about it."""
    if not problem["loc"]:
        return problem["msg"].removeprefix("Value error, ")
    field = str(problem["loc"][0])
    value = "null" if problem["input"] is None else f"{problem['input']!r:.60}"
    messages = {
        "missing": "missing",
        "string_too_short": "empty",
        "string_unicode": "half of a surrogate pair, which no UTF-8 can hold",
        "value_error": problem["msg"].removeprefix("Value error, "),
    }
    return f"{field}: {messages.get(problem['type'], f'{value} does not fit')}; give {_HINTS[field]}"
