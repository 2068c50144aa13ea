"""What is counted of running processes, and how a scratch folder of theirs is deleted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from pipeline.execution.sandbox import usage
from pipeline.execution.sandbox.folders import put, remove

MUCH = 1 << 40


def test_files_and_bytes_are_counted_without_following_links(tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    put(folder, {"a": bytes(8192), "b/c/d": bytes(4096)})
    (folder / "out").symlink_to("/usr")
    files, size = usage.stored(str(folder), (), 1000, MUCH)
    assert files == 5
    assert 12288 <= size < 40_000
    assert usage.stored(str(folder), (), 2, MUCH)[0] == 3


def test_deleted_files_that_are_still_open_count(tmp_path: Path) -> None:
    program = (
        "import os, sys\nf = open(sys.argv[1], 'wb', 0); g = os.dup(f.fileno()); os.remove(sys.argv[1])\n"
        "f.write(bytes(1 << 20)); print('ready', flush=True); input()"
    )
    argv = [sys.executable, "-c", program, str(tmp_path / "gone")]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        process.stdout.readline()
        files, size = usage.stored(str(tmp_path), [f"/proc/{process.pid}"], 1000, MUCH)
        process.communicate(b"\n")
    assert (files, size) == (1, 1 << 20)


def test_descendants_memory_and_threads() -> None:
    program = "import os, threading, time\nx = b'x' * (50 << 20)\nos.fork()\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint('ready', flush=True)\ntime.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(2):
            process.stdout.readline()
        tree = [f"/proc/{process.pid}", *(f"/proc/{pid}" for pid in usage.descendants(process.pid))]
        assert len(tree) == 2
        assert usage.threads(tree) == 4
        assert usage.memory_bytes(tree, MUCH) > 100 << 20 > usage.memory_bytes(tree, 0) > 50 << 20
        for path in tree:
            os.kill(int(path.rpartition("/")[2]), 9)


def test_what_is_not_there_counts_nothing() -> None:
    assert usage.memory_bytes(["/proc/0"], 0) == usage.threads(["/proc/0"]) == usage.mounted("/nowhere") == 0
    assert usage.stored("/nowhere", ["/proc/0"], 1, 1) == (0, 0)


def test_a_scratch_folder_is_deleted_and_nothing_that_it_points_to(tmp_path: Path) -> None:
    """Run as an ordinary user where we are root, whom no mode stops."""
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o011)
    program = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parents[3] / "pipeline" / "execution" / "sandbox")!r})
from pathlib import Path
from folders import put, remove
scratch, outside = Path("scratch"), Path("outside")
put(outside, {{"precious": b"x"}})
put(scratch, {{"a/b/c": b"x", "d": b"x"}})
os.symlink(outside.absolute(), scratch / "a" / "link")
os.symlink(outside.absolute() / "precious", scratch / "file")
os.link(outside / "precious", scratch / "hard")
for closed in ("a/b", "a", ""): os.chmod(scratch / closed, 0)
remove(scratch)
print(scratch.exists(), (outside / "precious").read_bytes(), oct((outside / "precious").stat().st_mode))
"""
    as_user: dict[str, Any] = {"user": 54321, "group": 54321, "extra_groups": []} if os.getuid() == 0 else {}
    python = "/usr/bin/python3" if os.getuid() == 0 else sys.executable
    done = subprocess.run(
        [python, "-c", program], cwd=tmp_path, umask=0o022, capture_output=True, text=True, check=False, **as_user
    )
    assert (done.stdout, done.stderr) == ("False b'x' 0o100644\n", "")


def test_deleting_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove(tmp_path / "nothing")
