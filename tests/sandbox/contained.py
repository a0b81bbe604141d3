"""Runs a Python program where certain system calls are forbidden, as a container forbids them.

Usage: `contained.py RULES MODULE [ARGUMENT…]`.

RULES are separated by commas: `mount` forbids a call, `prctl=22` only with that first argument, `unshare&0x40000000`
only where its first argument has that bit. It serves to see the sandbox where a wall is missing.
"""

from __future__ import annotations

import os
import re
import struct
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_NUMBERS = {
    "x86_64": {
        "unshare": 272, "setns": 308, "landlock_create_ruleset": 444, "mount": 165, "pivot_root": 155, "setresuid": 117,
        "prlimit64": 302, "prctl": 157,
    },
    "aarch64": {
        "unshare": 97, "setns": 268, "landlock_create_ruleset": 444, "mount": 40, "pivot_root": 41, "setresuid": 147,
        "prlimit64": 261, "prctl": 167,
    },
}  # fmt: skip
_LOAD, _EQUAL, _HAS_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _NOT_PERMITTED = 0x7FFF0000, 0x00050001
_FIRST_ARGUMENT = 16  # its offset in what a filter sees; 0 is the number of the call


def filter_of(rules: str) -> bytes:
    """Return the program for the kernel that forbids what `rules` say and nothing else."""
    numbers = _NUMBERS[os.uname().machine]
    program = b""
    for rule in rules.split(","):
        found = re.fullmatch(r"(\w+?)(?:([=&])(\w+))?", rule)
        assert found is not None, rule
        refuse = _pack(_RETURN, value=_NOT_PERMITTED)
        if found[2]:
            test = {"=": _EQUAL, "&": _HAS_BIT}[found[2]]
            refuse = _pack(_LOAD, value=_FIRST_ARGUMENT) + _pack(test, otherwise=1, value=int(found[3], 0)) + refuse
        skip = len(refuse) // struct.calcsize("=HBBI")
        program += _pack(_LOAD, value=0) + _pack(_EQUAL, otherwise=skip, value=numbers[found[1]]) + refuse
    return program + _pack(_RETURN, value=_ALLOW)


def _pack(code: int, *, value: int, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, 0, otherwise, value)


def main() -> None:
    """Forbid the calls, then become the program."""
    sys.path.insert(0, str(_ROOT))
    from grader.sandbox.walls import privileges, seccomp

    privileges.forbid_new_privileges()
    seccomp.load(filter_of(sys.argv[1]))
    os.chdir(_ROOT)
    os.execv(sys.executable, [sys.executable, "-m", *sys.argv[2:]])


if __name__ == "__main__":
    main()
