"""The credentials that this process knows, cut out of whatever is kept or shown.

A server may repeat what it was sent: a key, a token, the password of an address. Each of them is searched as it is,
quoted for an address, escaped in JSON or HTML, and in base64 at any offset, as HTTP Basic authentication has it.
"""

from __future__ import annotations

import base64
import configparser
import functools
import html
import json
import netrc
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus, unquote, urlsplit, urlunsplit

if TYPE_CHECKING:
    import pyarrow as pa

CUT = "[credential]"
"""What stands where a credential stood."""

_SHORTEST = 6
_WORD = 12
"""A password of an address that is a word of fewer letters, such as `postgres`, is no secret that a text could give
away; it is cut where it stands in an address or in base64."""

_NAMED = re.compile(r"(?i)(?:^|_)(?:key|token|secret|passw(?:or)?d|passphrase|credentials?)$")
_FILES = ("NETRC", "HF_TOKEN_PATH", "AWS_SHARED_CREDENTIALS_FILE", "DRIFTLINE_SECRETS", "HOME")
_USERINFO = re.compile(r"(?<=://)[^/?#\s\"'<>]*@")
_SIGNED = re.compile(r"(?i)(?<=[?&])([\w.-]*(?:token|signature|secret|password|credential|api_?key))=[^&#\s\"'<>]+")

_addresses: set[str] = set()


def remember(address: str) -> None:
    """Count the credentials in an address among what this process knows: no variable may hold it, as pip's index."""
    if "@" in address:
        _addresses.add(address)


def sign_in_for(url: str) -> tuple[str, str] | None:
    """Return user and password for a request: those in the address, else those of a known address of the same origin.

    The origin is scheme, host and port (RFC 6454): no other host is ever given what this one wants.
    """
    for address in (url, *sorted(_addresses)):
        parts = urlsplit(address)
        if parts.username is not None and _origin(address) == _origin(url):
            return unquote(parts.username), unquote(parts.password or "")
    return None


def without_userinfo(url: str) -> str:
    """Return an address without user and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def cut(text: str) -> str:
    """Return a text of somebody else without the credentials that this process knows."""
    pattern = _pattern()
    return text if pattern is None else pattern.sub(CUT, text)


def cut_bytes(content: bytes) -> bytes:
    """Return the body of an answer, which is text in an encoding of ASCII's, without known credentials."""
    text = content.decode("utf-8", "surrogateescape")
    cleaned = cut(text)
    return content if cleaned is text else cleaned.encode("utf-8", "surrogateescape")


def cut_message(text: str) -> str:
    """Return a message without known credentials, and its addresses without user, password (RFC 3986, 3.2.1) and
    signatures."""
    return _SIGNED.sub(rf"\1={CUT}", _USERINFO.sub("", cut(text)))


def cut_table(data: pa.Table) -> pa.Table:
    """Return a table without the credentials that this process knows, in texts at any depth."""
    # slow to import, and every command needs the rest of this module
    import pyarrow as pa

    if (pattern := _pattern()) is None:
        return data
    for number, field in enumerate(data.schema):
        if any(_holds(chunk, pattern.pattern) for chunk in data.column(number).chunks):
            values = [_cut_value(value) for value in data.column(number).to_pylist()]
            data = data.set_column(number, field, pa.array(values, field.type))
    return data


def _holds(array: Any, pattern: str) -> bool:
    """Say whether a pattern is in any text of an Arrow array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return bool(pc.any(pc.match_substring_regex(array, pattern)).as_py())
    if pa.types.is_list(kind):
        return _holds(array.values, pattern)
    if pa.types.is_struct(kind):
        return any(_holds(array.field(number), pattern) for number in range(kind.num_fields))
    return False


def _cut_value(value: Any) -> Any:
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, list):
        return [_cut_value(item) for item in value]
    return {name: _cut_value(item) for name, item in value.items()} if isinstance(value, dict) else value


def _pattern() -> re.Pattern[str] | None:
    """Return what finds each form of each credential; read anew where the environment has changed."""
    variables = {name: value for name, value in os.environ.items() if "://" in value or _NAMED.search(name)}
    variables |= {name: os.environ[name] for name in _FILES if name in os.environ}
    return _pattern_of(tuple(sorted(variables.items())), frozenset(_addresses))


@functools.lru_cache(maxsize=8)
def _pattern_of(variables: tuple[tuple[str, str], ...], addresses: frozenset[str]) -> re.Pattern[str] | None:
    named = dict(variables)
    texts = [*addresses]
    secrets: set[str] = set()
    for name, value in [*named.items(), *_secret_files(named.get("DRIFTLINE_SECRETS"))]:
        if "://" in value:
            texts.append(value)
        elif _NAMED.search(name):
            secrets.add(value.strip())
    secrets.update(_client_secrets(named))
    secrets = {secret for secret in secrets if len(secret) >= _SHORTEST}
    pairs: set[str] = set()
    for text in texts:
        for user, password in _userinfo(text):
            pairs.add(f"{user}:{password}")
            if len(password) >= _SHORTEST and not (password.isalpha() and len(password) < _WORD):
                secrets.add(password)
    forms = {form for secret in secrets for form in _forms(secret)} | {form for pair in pairs for form in _base64(pair)}
    if not forms:
        return None
    return re.compile("|".join(re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form))))


def _secret_files(folder: str | None) -> Iterator[tuple[str, str]]:
    """Yield names and contents of the files in which settings stand."""
    for path in sorted(Path(folder).glob("*")) if folder else ():
        try:
            yield path.name, path.read_text(errors="replace").strip()
        except OSError:
            continue


def _client_secrets(variables: dict[str, str]) -> Iterator[str]:
    """Yield what clients that we use sign in with, from their own files: netrc, Hugging Face, AWS."""
    home = Path(variables.get("HOME") or Path.home())
    try:
        hosts = netrc.netrc(variables.get("NETRC") or home / ".netrc").hosts
    except (OSError, netrc.NetrcParseError, UnicodeDecodeError):
        hosts = {}
    yield from (password for _, _, password in hosts.values() if password)
    try:
        token_file = Path(variables.get("HF_TOKEN_PATH") or home / ".cache" / "huggingface" / "token")
        yield token_file.read_text().strip()
    except (OSError, UnicodeDecodeError):
        pass
    aws = configparser.ConfigParser(interpolation=None)
    try:
        aws.read(variables.get("AWS_SHARED_CREDENTIALS_FILE") or home / ".aws" / "credentials")
    except (OSError, configparser.Error, UnicodeDecodeError):
        return
    for section in aws.values():
        yield from (value for name, value in section.items() if "secret" in name or "token" in name)


def _userinfo(text: str) -> Iterator[tuple[str, str]]:
    """Yield user and password of the addresses in a text; a user alone is a token."""
    for match in _USERINFO.finditer(text):
        user, _, password = match[0][:-1].partition(":")
        yield ("", unquote(user)) if not password else (unquote(user), unquote(password))


def _forms(secret: str) -> Iterable[str]:
    plain = {
        secret,
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        html.escape(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
    }
    return {*plain, *_base64(secret)}


def _base64(secret: str) -> Iterator[str]:
    """Yield a secret in base64, and the letters that any text has there which holds it, at each of three offsets."""
    content = secret.encode()
    yield base64.b64encode(content).decode()
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + content).decode()
        # The first letters mix the secret with what stands before it, the last ones with what follows.
        first, last = (offset * 8 + 5) // 6, (offset + len(content)) * 8 // 6
        if last - first >= _SHORTEST:
            yield encoded[first:last]
            yield encoded[first:last].translate(str.maketrans("+/", "-_"))


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, port
