"""The documentation builds without a warning, and what it links to is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.core.settings import PROJECT

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def test_the_site_builds_with_all_its_links(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    generated = (tmp_path / "site" / "reference" / "commands" / "index.html").read_text("utf-8")
    assert "driftline diff" in generated
    assert "generated: commands" not in generated


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md"])
def test_the_documents_at_the_top_link_to_what_is_there(name: str) -> None:
    links = [link for link in LINK.findall((PROJECT / name).read_text("utf-8")) if "://" not in link]
    assert links
    assert [link for link in links if not (PROJECT / link).exists()] == []


@pytest.mark.parametrize(("name", "lines"), [("README.md", 150), ("ARCHITECTURE.md", 200)])
def test_the_documents_at_the_top_stay_short(name: str, lines: int) -> None:
    assert len((PROJECT / name).read_text("utf-8").splitlines()) <= lines
