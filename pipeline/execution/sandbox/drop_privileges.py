"""The drop to the second user of a session, to be made by a child right after the fork; for Python 3.6 and newer.

The file is handed into the sandbox beside the program that imports it.
"""

import ctypes
import os

_LIBC = ctypes.CDLL(None, use_errno=True)
_CAPABILITIES_V3 = 0x20080522


def become(uid: int) -> None:
    """Become another user for good: neither the uid nor a capability can be had back.

    Errors: OSError if the drop did not happen in full; the child must then end at once.
    """
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    # From one ordinary uid to another the kernel takes nothing away by itself: capabilities(7).
    if _LIBC.capset((ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0), (ctypes.c_uint32 * 6)()):
        raise OSError(ctypes.get_errno(), "capset")
    if os.getresuid() != (uid, uid, uid) or held():
        raise OSError(1, "the drop to the second user did not hold")


def held() -> int:
    """Return the capabilities that this process has or could take up again, as bits."""
    bits = 0
    with open("/proc/self/status") as status:  # noqa: PTH123 - a file of the kernel, not worth importing pathlib
        for line in status:
            if line.startswith(("CapInh", "CapPrm", "CapEff", "CapAmb")):
                bits |= int(line.split()[1], 16)
    return bits
