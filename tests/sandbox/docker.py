"""What Docker leaves to a process in a container with its default settings: its system call filter, its capabilities.

The facts are those of `seccomp/default.json` in the repository moby/profiles, commit 02e898b (Apache-2.0), for x86_64
and a kernel from 4.8 on. The profile lists what it allows; what it refuses is the shorter list, and is the one here.
Not emulated: Docker's own namespaces and its AppArmor profile, which only take more away.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

from grader.sandbox.walls import kernel, privileges, seccomp

# By number, in the order of the kernel's table. After rules for capabilities that a container has not: mounting
# (155, 165, 166, 428-433, 442), modules, tracing by descriptor (312, 438, 440), bpf, perf, NUMA policy, clocks, swap,
# namespaces (272, 308), keys (248-250), io_uring (425-427), userfaultfd (323).
_REFUSED = (
    *(103, 134, 136, 139, 153, 155, 156, *range(163, 186), 212, 227, 236, 237, 238, 239, 246, 248, 249, 250, 256),
    *(272, 279, 298, 300, 304, 308, 312, 313, 320, 321, 323, *range(425, 434), 438, 440, 442, 443, 450, 459, 460, 461),
)
_UNKNOWN_FROM = 467  # newer than the profile: "no such call"
_SOCKET, _CLONE, _PERSONALITY, _CLONE3 = 41, 56, 135, 435
_FAMILIES = (*range(12), 13, 14, 15, 16, 17, 18, 21, 22, 24, *range(26, 34), 35, 36, 39, *range(41, 46))
_PERSONALITIES = (0, 8, 0x20000, 0x20008, 0xFFFFFFFF)
_NEW_NAMESPACES = 0x7E020000  # flags of clone
# chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, net_raw, sys_chroot, mknod,
# audit_write, setfcap
_CAPABILITIES = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)

_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_X86_64 = 0xC000003E


def confine() -> None:
    """Leave this process, and all that it starts, what a container has.

    Raises:
        OSError: the kernel refused, or this is no x86_64.
    """
    if platform.machine() != "x86_64":
        raise OSError("the numbers of the profile are written down for x86_64 only")
    keep = sum(1 << number for number in _CAPABILITIES)
    for number in range(41):
        if not keep >> number & 1:
            _drop_from_bounding_set(number)
    _keep_capabilities(keep)
    refuse_calls()


def refuse_calls() -> None:
    """Load the profile's filter alone."""
    privileges.forbid_new_privileges()
    seccomp.load(b"".join(struct.pack("=HBBI", *line) for line in _program()))


def _drop_from_bounding_set(number: int) -> None:
    try:
        kernel.prctl(24, number)
    except OSError as error:  # an ordinary user has none to drop
        if error.errno != errno.EPERM:
            raise


def _keep_capabilities(keep: int) -> None:
    header, now = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capget(header, now)
    low = keep & 0xFFFFFFFF
    kernel.capset(header, (ctypes.c_uint32 * 6)(now[0] & low, now[1] & low, 0, 0, 0, 0))


def _program() -> list[tuple[int, int, int, int]]:
    """Return the filter's instructions: of another ABI nothing, then call by call, then the rest."""
    load, equal, at_least, any_bit, verdict = 0x20, 0x15, 0x35, 0x45, 0x06
    refuse, allow = (verdict, 0, 0, _ERROR | errno.EPERM), (verdict, 0, 0, _ALLOW)
    absent = (verdict, 0, 0, _ERROR | errno.ENOSYS)
    program = [(load, 0, 0, 4), (equal, 1, 0, _X86_64), refuse, (load, 0, 0, 0)]
    for number in _REFUSED:
        program += [(equal, 0, 1, number), refuse]
    program += [(equal, 0, 1, _CLONE3), absent]
    for number, values in ((_SOCKET, _FAMILIES), (_PERSONALITY, _PERSONALITIES)):
        tests = [(equal, len(values) - place, 0, value) for place, value in enumerate(values)]
        program += [(equal, 0, len(values) + 3, number), (load, 0, 0, 16), *tests, refuse, allow]
    program += [(equal, 0, 4, _CLONE), (load, 0, 0, 16), (any_bit, 0, 1, _NEW_NAMESPACES), refuse, allow]
    return [*program, (at_least, 0, 1, _UNKNOWN_FROM), absent, allow]
