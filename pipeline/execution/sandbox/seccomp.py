"""A seccomp filter: the system calls and socket families that no example of a library needs, and escapes do."""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Sequence

# Classic BPF and seccomp constants: linux/filter.h, linux/seccomp.h, linux/audit.h.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, (16, 24, 32)
_CLONE_NEWUSER = 0x10000000
_X32_BIT = 0x40000000
_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink; not vsock, which no network namespace holds back

_FAMILY_COUNT = 46  # AF_MAX of linux/socket.h

# Numbers of the system calls on each architecture.
_MACHINES = ("x86_64", "aarch64")
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_DENIED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
}
# Memory that belongs to no process and no file system that is bounded; and clone3, see below.
_NOT_THERE = {"memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "clone3": (435, 435)}
_OTHER_USERS = {
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
}
_CLONE, _SOCKET = (56, 220), (41, 198)
_SETRESUID, _SETRESGID, _SETGROUPS = (117, 147), (119, 149), (116, 159)
# What Landlock leaves to a program that is the same user as its host: the marks of files (0: there is no such call) …
_MARKS = {
    "chmod": (90, 0),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, 0),
    "fchown": (93, 55),
    "lchown": (94, 0),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "utime": (132, 0),
    "utimes": (235, 0),
    "futimesat": (261, 0),
    "utimensat": (280, 88),
}
# … and other processes, by the argument that names them: 0 is oneself.
_OTHER_PROCESSES = {
    "prlimit64": (302, 261, 0),
    "sched_setparam": (142, 118, 0),
    "sched_setscheduler": (144, 119, 0),
    "sched_setaffinity": (203, 122, 0),
    "sched_setattr": (314, 274, 0),
    "migrate_pages": (256, 238, 0),
    "move_pages": (279, 239, 0),
    "setpriority": (141, 140, 1),
    "ioprio_set": (251, 30, 1),
}


def same_user_filter(machine: str = "") -> bytes:
    """Return a filter for what a program could do to files and processes of the user that it runs as.

    Errors: KeyError for a machine whose system call numbers are not known here.
    """
    machine = machine or platform.machine()
    audit, here = _AUDIT[machine], _MACHINES.index(machine)
    code = [*_expect(_ARCHITECTURE, audit), _load(_NUMBER), *_when(_AT_LEAST, _X32_BIT, _KILL)]
    for number in (numbers[here] for numbers in _MARKS.values() if numbers[here]):
        code += _when(_EQUAL, number, _ERRNO | errno.EPERM)
    for *numbers, argument in _OTHER_PROCESSES.values():
        code += _on_call(numbers[here], _require_any(_ARGUMENTS[argument], (0,)))
    return b"".join([*code, _return(_ALLOW)])


def seccomp_filter(machine: str = "", users: Sequence[int] = ()) -> bytes:
    """Return the compiled filter for a machine (this one by default), to hand to bubblewrap.

    It keeps a process from making a user namespace of its own, in which it would be root towards the kernel, from
    sockets that leave the network namespace, and from memory that nobody counts. clone3 answers ENOSYS, since its flags
    lie in memory that a filter cannot read: libc then falls back to clone. With `users`, a process that may change its
    uid and gid can change them to these only.

    Errors: KeyError for a machine whose system call numbers are not known here.
    """
    machine = machine or platform.machine()
    audit, here = _AUDIT[machine], _MACHINES.index(machine)
    code = [*_expect(_ARCHITECTURE, audit), _load(_NUMBER), *_when(_AT_LEAST, _X32_BIT, _KILL)]
    for numbers in (*_DENIED.values(), *(_OTHER_USERS.values() if users else ())):
        code += _when(_EQUAL, numbers[here], _ERRNO | errno.EPERM)
    for numbers in _NOT_THERE.values():
        code += _when(_EQUAL, numbers[here], _ERRNO | errno.ENOSYS)
    if users:
        for numbers in (_SETRESUID, _SETRESGID):
            code += _on_call(numbers[here], [line for argument in _ARGUMENTS for line in _require_any(argument, users)])
        code += _on_call(_SETGROUPS[here], _require_any(_ARGUMENTS[0], (0,)))
    new_user = _when(_ANY_BIT, _CLONE_NEWUSER, _ERRNO | errno.EPERM)
    code += _on_call(_CLONE[here], [_load(_ARGUMENTS[0]), *new_user])
    families = [line for family in _FAMILIES for line in _when(_EQUAL, family, _ALLOW)]
    other = _return(_ERRNO | errno.EAFNOSUPPORT)
    code += _on_call(_SOCKET[here], [_load(_ARGUMENTS[0]), *families, other])
    return b"".join([*code, _return(_ALLOW)])


def seccomp_profile() -> dict[str, object]:
    """Return what `seccomp_filter` refuses as the profile that container engines take, which is by name.

    Source: the seccomp section of the OCI runtime specification, as docker and podman read it.
    """

    def refuse(names: Sequence[str], number: int, *arguments: dict[str, object]) -> dict[str, object]:
        return {"names": list(names), "action": "SCMP_ACT_ERRNO", "errnoRet": number, "args": list(arguments)}

    other = [family for family in range(_FAMILY_COUNT) if family not in _FAMILIES]
    user = {"index": 0, "value": _CLONE_NEWUSER, "valueTwo": _CLONE_NEWUSER, "op": "SCMP_CMP_MASKED_EQ"}
    unknown = {"index": 0, "value": _FAMILY_COUNT, "op": "SCMP_CMP_GE"}
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "syscalls": [
            refuse(tuple(_DENIED), errno.EPERM),
            refuse(tuple(_NOT_THERE), errno.ENOSYS),
            refuse(("clone",), errno.EPERM, user),
            *(refuse(("socket",), errno.EAFNOSUPPORT, {"index": 0, "value": n, "op": "SCMP_CMP_EQ"}) for n in other),
            refuse(("socket",), errno.EAFNOSUPPORT, unknown),
        ],
    }


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


def _require_any(argument: int, values: Sequence[int]) -> list[bytes]:
    """Refuse the call unless an argument, of 32 bits, has one of the values."""
    tests = [_instruction(_EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [_load(argument), *tests, _return(_ERRNO | errno.EPERM)]


def _on_call(number: int, lines: list[bytes]) -> list[bytes]:
    """Run `lines` on one system call, which is allowed if they come to their end."""
    return [_instruction(_EQUAL, 0, len(lines) + 1, number), *lines, _return(_ALLOW)]
