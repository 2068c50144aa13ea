"""A seccomp filter: the system calls and socket families that no example of a library needs, and escapes do."""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass

# Classic BPF and seccomp constants: linux/filter.h, linux/seccomp.h, linux/audit.h.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, (16, 24, 32)
_CLONE_NEWUSER = 0x10000000
_X32_BIT = 0x40000000
_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink; not vsock, which no network namespace holds back

_EVERYWHERE = (
    425,
    428,
    429,
    430,
    431,
    432,
    438,
    442,
)  # io_uring, open_tree … fsmount, pidfd_getfd, mount_setattr
_SECRET_MEMORY = 447  # memfd_secret


@dataclass(frozen=True, slots=True)
class _Machine:
    """Numbers of the system calls on one architecture.

    `denied`: unshare, setns, mount, ptrace, bpf and their kin. `hoards`: memfd_create and shmget, whose memory belongs
    to no process and no file system that is bounded. `users`: setuid, setreuid, setfsuid and the same for groups.
    """

    audit: int
    clone: int
    clone3: int
    socket: int
    setresuid: int
    setresgid: int
    setgroups: int
    users: tuple[int, ...]
    hoards: tuple[int, ...]
    denied: tuple[int, ...]


_MACHINES = {
    "x86_64": _Machine(
        audit=0xC000003E,
        clone=56,
        clone3=435,
        socket=41,
        setresuid=117,
        setresgid=119,
        setgroups=116,
        users=(105, 106, 113, 114, 122, 123),
        hoards=(29, 319),
        denied=(101, 155, 161, 165, 166, 248, 249, 250, 272, 298, 304, 308, 310, 311, 321, 323),
    ),
    "aarch64": _Machine(
        audit=0xC00000B7,
        clone=220,
        clone3=435,
        socket=198,
        setresuid=147,
        setresgid=149,
        setgroups=159,
        users=(143, 144, 145, 146, 151, 152),
        hoards=(194, 279),
        denied=(39, 40, 41, 51, 97, 117, 217, 218, 219, 241, 265, 268, 270, 271, 280, 282),
    ),
}


def seccomp_filter(machine: str = "", users: Sequence[int] = ()) -> bytes:
    """Return the compiled filter for a machine (this one by default), to hand to bubblewrap.

    It keeps a process from making a user namespace of its own, in which it would be root towards the kernel, from
    sockets that leave the network namespace, and from memory that nobody counts. clone3 answers ENOSYS, since its flags
    lie in memory that a filter cannot read: libc then falls back to clone. With `users`, a process that may change its
    uid and gid can change them to these only.

    Errors: KeyError for a machine whose system call numbers are not known here.
    """
    calls = _MACHINES[machine or platform.machine()]
    code = [*_expect(_ARCHITECTURE, calls.audit), _load(_NUMBER)]
    code += _when(_AT_LEAST, _X32_BIT, _KILL)
    for number in sorted({*calls.denied, *_EVERYWHERE, *(calls.users if users else ())}):
        code += _when(_EQUAL, number, _ERRNO | errno.EPERM)
    for number in (*calls.hoards, _SECRET_MEMORY, calls.clone3):
        code += _when(_EQUAL, number, _ERRNO | errno.ENOSYS)
    if users:
        for number in (calls.setresuid, calls.setresgid):
            code += _on_call(number, [line for argument in _ARGUMENTS for line in _one_of(argument, users)])
        code += _on_call(calls.setgroups, _one_of(_ARGUMENTS[0], (0,)))
    code += _on_call(calls.clone, [_load(_ARGUMENTS[0]), *_when(_ANY_BIT, _CLONE_NEWUSER, _ERRNO | errno.EPERM)])
    families = [line for family in _FAMILIES for line in _when(_EQUAL, family, _ALLOW)]
    code += _on_call(calls.socket, [_load(_ARGUMENTS[0]), *families, _return(_ERRNO | errno.EAFNOSUPPORT)])
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


def _one_of(argument: int, values: Sequence[int]) -> list[bytes]:
    """Refuse the call unless an argument, of 32 bits, has one of the values."""
    tests = [_instruction(_EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [_load(argument), *tests, _return(_ERRNO | errno.EPERM)]


def _on_call(number: int, lines: list[bytes]) -> list[bytes]:
    """Run `lines` on one system call, which is allowed if they come to their end."""
    return [_instruction(_EQUAL, 0, len(lines) + 1, number), *lines, _return(_ALLOW)]
