"""Flags, decisions and rejects: closed vocabularies."""

from pipeline.terms.term import Term


class FlagKind(Term):
    LICENCE_UNCLEAR = "licence_unclear", "no SPDX licence could be read from the release"
    DESCRIPTION_REDACTED = "description_redacted", "the name had to be cut out of the description"
    NO_DESCRIPTION = "no_description", "the docstring gives no sentence to describe the code"
    LABEL_CONTRADICTED = "label_contradicted", "running contradicts what the comparison says"
    RENAME_UNSURE = "rename_unsure", "the rename is a guess from similarity"
    NOT_DISCRIMINATING = "not_discriminating", "the old code passes in the new release too"
    TOO_LONG = "too_long", "longer than the rule allows"
    DOCUMENTATION_DISAGREES = "documentation_disagrees", "the documentation states another version than was found"
    AUDIT = "audit", "drawn at random, so that the error rate of the rest is known"


class ReviewStatus(Term):
    UNFLAGGED = "unflagged", "nothing was in doubt, nobody has looked"
    PENDING = "pending", "flagged, nobody has decided yet"


class RejectReason(Term):
    NO_SUCH_LIBRARY = "no_such_library", "the index does not know the name"
    INDEX_UNREACHABLE = "index_unreachable", "the index did not answer, or only with errors"
    BAD_INDEX_ANSWER = "bad_index_answer", "the index answered with something else than its format"
    NO_RELEASES = "no_releases", "nothing is left after the rules"
    INVALID_VERSION = "invalid_version", "the version is not PEP 440"
    PRE_RELEASE = "pre_release", "a pre-release or development release"
    YANKED = "yanked", "withdrawn by its authors"
    NO_FILES = "no_files", "the release has no usable file"
    WRONG_HASH = "wrong_hash", "the file's sha256 is not the one that the index states"
    BAD_ARCHIVE = "bad_archive", "the archive is truncated or not an archive"
    UNSAFE_ARCHIVE = "unsafe_archive", "a member climbs out, is a link, or unpacks too large"
    NO_MODULES = "no_modules", "the release has no importable module to read"
    UNPARSED_SOURCE = "unparsed_source", "a source file does not parse"
    NO_PREDECESSOR = "no_predecessor", "the release before is not in the lake"
    BROKEN_EXAMPLE = "broken_example", "the example does not parse as Python"
    TOO_SHORT = "too_short", "too little code to be of use"
    TOO_LONG = "too_long", "more code than the rule allows"
    NO_USE = "no_use", "the code does not use the library"
    DUPLICATE = "duplicate", "the same content is there already"
    UNRESOLVED_NAME = "unresolved_name", "the chain leads to no public path of that version"
    LEAKS_ANSWER = "leaks_answer", "the answer can be read elsewhere in the instance"
    UNFIT_NAME = "unfit_name", "the API is used under another name, or its name is too short to hide"
    NO_BLOCK = "no_block", "no block of the wanted size stands around the use"
    OVER_QUOTA = "over_quota", "more than the rule takes of one kind"
    NO_PARTNER = "no_partner", "the other version has no example to pair with"
    SAME_CODE = "same_code", "both sides are the same code"
    NO_TEXT = "no_text", "nothing to write it from"
    NO_ENVIRONMENT = "no_environment", "the release could not be installed to run it"
    NO_SPACE = "no_space", "the disk was full"
    NOT_PROVEN = "not_proven", "the reference does not pass in its own environment"
    LABEL_REFUTED = "label_refuted", "running in the neighbouring release contradicts the tag"
    LICENCE = "licence", "the licence is not on the allow-list"
    FLAGGED = "flagged", "held back until a person has decided"
