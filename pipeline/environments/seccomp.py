"""A seccomp filter: the system calls and socket families that no example of a library needs, and escapes do."""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

# Classic BPF and seccomp constants: linux/filter.h, linux/seccomp.h, linux/audit.h.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_CLONE_NEWUSER = 0x10000000
_X32_BIT = 0x40000000
_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink; not vsock, which no network namespace holds back

_EVERYWHERE = (425, 428, 429, 430, 431, 432, 442)  # io_uring_setup, open_tree … fsmount, mount_setattr


@dataclass(frozen=True, slots=True)
class _Machine:
    """Numbers of the system calls on one architecture (`denied`: unshare, setns, mount, ptrace, bpf and their kin)."""

    audit: int
    clone: int
    clone3: int
    socket: int
    denied: tuple[int, ...]


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 56, 435, 41, (101, 155, 161, 165, 166, 248, 249, 250, 272, 298, 304, 308, 321, 323)),
    "aarch64": _Machine(0xC00000B7, 220, 435, 198, (39, 40, 41, 51, 97, 117, 217, 218, 219, 241, 265, 268, 280, 282)),
}


def seccomp_filter(machine: str = "") -> bytes:
    """Return the compiled filter for a machine (this one by default), to hand to bubblewrap.

    It keeps a process from making a user namespace of its own, in which it would be root towards the kernel, and
    from sockets that leave the network namespace. clone3 answers ENOSYS, since its flags lie in memory that a
    filter cannot read: libc then falls back to clone.

    Errors: KeyError for a machine whose system call numbers are not known here.
    """
    calls = _MACHINES[machine or platform.machine()]
    code = [*_expect(_ARCHITECTURE, calls.audit), _load(_NUMBER)]
    code += _when(_AT_LEAST, _X32_BIT, _KILL)
    for number in sorted({*calls.denied, *_EVERYWHERE}):
        code += _when(_EQUAL, number, _ERRNO | errno.EPERM)
    code += _when(_EQUAL, calls.clone3, _ERRNO | errno.ENOSYS)
    code += _on_argument(calls.clone, [*_when(_ANY_BIT, _CLONE_NEWUSER, _ERRNO | errno.EPERM), _return(_ALLOW)])
    families = [line for family in _FAMILIES for line in _when(_EQUAL, family, _ALLOW)]
    code += _on_argument(calls.socket, [*families, _return(_ERRNO | errno.EAFNOSUPPORT)])
    return b"".join([*code, _return(_ALLOW)])


def _instruction(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _load(offset: int) -> bytes:
    return _instruction(_LOAD, 0, 0, offset)


def _return(value: int) -> bytes:
    return _instruction(_RETURN, 0, 0, value)


def _when(test: int, value: int, answer: int) -> list[bytes]:
    return [_instruction(test, 0, 1, value), _return(answer)]


def _expect(offset: int, value: int) -> list[bytes]:
    return [_load(offset), _instruction(_EQUAL, 1, 0, value), _return(_KILL)]


def _on_argument(number: int, lines: list[bytes]) -> list[bytes]:
    """Run `lines`, which end in a return, on the first argument of one system call."""
    return [_instruction(_EQUAL, 0, len(lines) + 1, number), _load(_FIRST_ARGUMENT), *lines]
