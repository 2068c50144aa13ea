"""Why a library is not taken into a profile that a rule chooses."""

from __future__ import annotations

from pipeline.core.vocabularies.term import Term


class Unsuited(Term):
    STUBS = "stubs", "types of another library, nothing that runs"
    EXTENSION = "extension", "a plugin or a bridge: an API that its host calls"
    SERVICE_CLIENT = (
        "service_client",
        "the client of one service: generated, or of no use without it",
    )
    TOOL = "tool", "a program or the inside of one, with no API to program against"
    BINARY = "binary", "compiled, with no surface to read"
    CONTENT = "content", "data, programs of others or constants in the shape of a package"
    BACKPORT = "backport", "the standard library for Pythons that lack it"
    SAME_MODULES = "same_modules", "its modules are those of another distribution"
    WITHDRAWN = "withdrawn", "its authors ask not to use it any more"
    TOO_LARGE = "too_large", "its files, or what it needs, are larger than a refresh takes"
    FEW_RELEASES = "few_releases", "too few final releases in the period to compare"
    LICENCE = "licence", "its code may not be passed on under the licence that it states"
