"""Licences are read from what metadata states, and compared with a list."""

from __future__ import annotations

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.index.licences import LicenceRules, is_allowed, spdx

RULES_OF_LICENCES = load(RULES / "licences.yaml", LicenceRules)
LISTED = {"Apache-2.0", "BSD-3-Clause", "ISC", "MIT"}


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("mit", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT AND BSD-3-Clause", True),
        ("GPL-3.0-only AND MIT OR ISC", True),
        ("GPL-3.0-only AND (MIT OR ISC)", False),
        ("(MIT OR GPL-3.0-only) AND ISC", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        ("LicenseRef-Ours", False),
        ("BSD", False),
        ("", False),
    ],
)
def test_is_allowed(expression: str, allowed: bool) -> None:
    assert is_allowed(expression, LISTED) is allowed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MIT", "MIT"),
        ("The MIT License (MIT)", "MIT"),
        ("BSD 3 clause", "BSD-3-Clause"),
        ("Apache Software License 2.0", "Apache-2.0"),
        ("MIT License\n\n        Copyright (c) 2019 Ada\n\n Permission is hereby granted", "MIT"),
        ("BSD 3-Clause License\n\nCopyright (c) 2019 - 2020 Ada.\nAll rights reserved.", "BSD-3-Clause"),
        ("Apache License\n Version 2.0, January 2004\n http://www.apache.org/licenses/", "Apache-2.0"),
        ("MIT-like, but ask me first", None),
        ("Proprietary", None),
        ("", None),
    ],
)
def test_the_free_text_of_metadata_is_read_where_it_is_known(text: str, expected: str | None) -> None:
    assert spdx(None, text, [], RULES_OF_LICENCES)[0] == expected
