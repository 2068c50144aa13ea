"""The tree of a project as its source distribution has it: what is imported, what is tested, what is traced."""

from __future__ import annotations

import io
import tarfile
import tokenize
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from typing import IO

from pipeline.corpus.source_text import source_text
from pipeline.families.repository_tasks.copies import ARCHIVES, BYTECODE, Copies
from pipeline.index.archives import ArchiveLimits, read_members
from pipeline.lake.ids import sha256_text

_IMPORT_ROOTS = ("src", "lib", "python")


@dataclass(frozen=True)
class TreeRules:
    """What the rules of projects say about paths; verifiers of exported tasks have no more of them."""

    test_files: tuple[str, ...]
    test_folders: frozenset[str]
    aside: frozenset[str]
    max_unpacked_bytes: int
    max_ratio: int
    files: int

    @property
    def archive_limits(self) -> ArchiveLimits:
        """How much a source distribution may hold."""
        return ArchiveLimits(self.max_unpacked_bytes, self.max_ratio)

    def is_test(self, path: str) -> bool:
        """Whether a file of a tree is there to test, by its path: a module of tests, or beside one."""
        *folders, name = path.split("/")
        return not self.test_folders.isdisjoint(folders) or name == "conftest.py" or self.holds_tests(path)

    def holds_tests(self, path: str) -> bool:
        """Whether pytest would look for tests in a file, by its name."""
        name = path.rsplit("/", 1)[-1]
        return any(fnmatch(name, pattern) for pattern in self.test_files)

    def is_aside(self, path: str) -> bool:
        """Whether a file lies in a folder of which nothing is run or traced."""
        return not self.aside.isdisjoint(path.split("/")[:-1])


@dataclass(frozen=True)
class Tree:
    """The files of a project by their paths below `root`, the folder of the archive in which everything lies."""

    root: str
    files: Mapping[str, bytes]
    rules: TreeRules

    @cached_property
    def import_root(self) -> str:
        """The folder from which packages are imported: empty for the root itself, or such as `src`."""
        for folder in _IMPORT_ROOTS:
            inside = [path for path in self.files if path.startswith(f"{folder}/")]
            if any(path.endswith(".py") for path in inside) and f"{folder}/__init__.py" not in inside:
                return folder
        return ""

    def packages(self, import_names: Iterable[str]) -> list[str]:
        """Return which of the top-level packages that are installed the tree itself has, as folders or modules."""
        start = f"{self.import_root}/" if self.import_root else ""
        names = sorted({name.split(".")[0] for name in import_names})
        return [
            name
            for name in names
            if f"{start}{name}.py" in self.files or any(path.startswith(f"{start}{name}/") for path in self.files)
        ]

    def sources(self, packages: Iterable[str]) -> list[str]:
        """Return the Python files of packages that are no tests."""
        start = f"{self.import_root}/" if self.import_root else ""
        heads = tuple(f"{start}{name}{end}" for name in packages for end in ("/", ".py"))
        inside = [path for path in sorted(self.files) if path.endswith(".py") and path.startswith(heads)]
        return [path for path in inside if not self.rules.is_test(path.removeprefix(start))]

    @cached_property
    def test_files(self) -> list[str]:
        """The files in which pytest finds tests, at most as many as the rules say: those whose hashes are smallest."""
        tests = [path for path in self.files if self.rules.holds_tests(path) and not self.rules.is_aside(path)]
        return sorted(sorted(tests, key=sha256_text)[: self.rules.files])

    def encoded(self, path: str, text: str) -> bytes:
        """Return a text in the encoding that a file states (PEP 263); one that does not fit is no Python."""
        encoding = "utf-8"
        if path.endswith(".py"):
            encoding = tokenize.detect_encoding(io.BytesIO(self.files[path]).readline)[0]
        try:
            return text.encode(encoding)
        except UnicodeEncodeError:
            return b"\0"

    def text(self, path: str) -> str | None:
        """Return the text of a Python file, lines ended by a newline; None where it is not in its encoding."""
        return source_text(self.files[path])

    @cached_property
    def archive(self) -> bytes:
        """The tree as a tar archive, to be handed to the sandbox in one piece."""
        return self.archive_without(())

    def archive_without(self, masked: Collection[str]) -> bytes:
        """Return the archive without some files, and without all that tells what is in them."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path, content in sorted(self.without(masked).items()):
                member = tarfile.TarInfo(path)
                member.size, member.mode = len(content), 0o644
                archive.addfile(member, io.BytesIO(content))
        return packed.getvalue()

    def without(self, masked: Collection[str]) -> Mapping[str, bytes]:
        """Return the files but for some, and for all that tells what is in these: copies, bytecode, archives of them.

        A copy that only resembles them is taken for one in folders of which nothing is run, such as `build`.
        """
        if not masked:
            return self.files
        copies = Copies({path: self.files[path] for path in masked})
        return {path: content for path, content in self.files.items() if not self._reveals(path, content, copies)}

    def _reveals(self, path: str, content: bytes, copies: Copies) -> bool:
        if path.endswith(BYTECODE) or copies.are_equal(content):
            return True
        if path.endswith(ARCHIVES):
            return copies.are_packed(io.BytesIO(content), self.rules.archive_limits)
        return self.rules.is_aside(path) and copies.are_alike(path, content)


def read_tree(sdist: IO[bytes], rules: TreeRules) -> Tree:
    """Read a source distribution (PEP 517) through the guarded reader.

    Errors: BadArchive, UnsafeArchive.
    """
    members = {member.name: member.content for member in read_members(sdist, lambda name: True, rules.archive_limits)}
    tops = {name.partition("/")[0] if "/" in name else "" for name in members}
    root = tops.pop() if len(tops) == 1 else ""
    start = len(root) + 1 if root else 0
    return Tree(root, {_clean(name[start:]): content for name, content in members.items()}, rules)


def _clean(path: str) -> str:
    """Return a path without empty parts and those that stand for the folder itself."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))
