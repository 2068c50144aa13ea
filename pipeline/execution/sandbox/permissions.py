"""What a run may have beyond the usual view of the sandbox."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import CodedError

CASE_UID = "DRIFTLINE_CASE_UID"
"""Variable that tells a session the second uid, if it was granted one."""

INDEX_SOCKET = "/run/index.sock"
"""Where a granted index is seen inside."""


class PermissionRefused(CodedError, ValueError):
    """This sandbox cannot give what was asked for; the message says which one can."""


@dataclass(frozen=True, slots=True)
class Permissions:
    """Beyond the usual view: more to read, what is hidden, the way to an index, a second user.

    `read`: folders or files, read-only, where they are. `hide`: files of the view that are shown empty; sandlock, whose
    rules can only allow, shows them as they are. `index`: a Unix socket of the host that anybody may write to
    (mode 0666), seen inside as `INDEX_SOCKET`, the only way out. `second_uid`: the process may hand a child to the uid
    in the variable `CASE_UID`, and to no other; see `drop_privileges`.
    """

    read: tuple[Path, ...] = ()
    hide: tuple[Path, ...] = ()
    index: Path | None = None
    second_uid: bool = False
