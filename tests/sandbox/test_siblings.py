"""Two submissions at the same time, one that tells something and one that listens: nothing must arrive."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from grader.box.run import Run
from grader.sandbox.runner import Sandbox
from tests.sandbox.errand import LIMITS, plan

_LIMITS = replace(LIMITS, wall_seconds=8)
_SECRET = 0b10110101

# Both know one address, since a fork copies the layout of memory. The sender wakes for each bit that is set and the
# receiver gives each bit a third of a second; a one that arrives goes on at once, so they need no clock.
_BOTH = """
import ctypes, time
libc = ctypes.CDLL(None, use_errno=True)
first = ctypes.cast(libc.qsort, ctypes.c_void_p).value & -64

def futex(bit, operation, value, seconds):
    timeout = (ctypes.c_long * 2)(0, int(seconds * 1e9))
    word = ctypes.c_void_p(first + 4 * bit)
    return libc.syscall({futex}, word, operation, value, timeout if operation == 0 else None, None, 0)
"""
_RECEIVER = """
heard = 0
for bit in range(8):
    heard |= (futex(bit, 0, ctypes.c_uint32.from_address(first + 4 * bit).value, 0.3) == 0) << bit
print(heard)
"""
_SENDER = """
end = time.monotonic() + 5
for bit in range(8):
    while {secret} >> bit & 1 and futex(bit, 1, 1, 0) != 1 and time.monotonic() < end:
        time.sleep(0.001)
"""


@pytest.mark.parametrize("machine", ["x86_64"])
def test_a_word_in_a_shared_library_carries_no_message(machine: str, sandbox: Sandbox) -> None:
    """A futex that is not private is found by the page of the file, which all children have in common."""
    both = _BOTH.format(futex={"x86_64": 202}[machine])
    told: dict[str, Run] = {}

    def run(name: str, source: str) -> None:
        told[name] = sandbox.run(plan(), both + source, _LIMITS)

    threads = [
        threading.Thread(target=run, args=("receiver", _RECEIVER)),
        threading.Thread(target=run, args=("sender", _SENDER.format(secret=_SECRET))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told["receiver"].output.strip() == "0", told
