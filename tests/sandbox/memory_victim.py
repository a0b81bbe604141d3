"""A service that is told to grade memory attacks, each beside an honest submission; prints what came of them as JSON.

Usage: `python -m tests.sandbox.memory_victim DATA ATTACKS SLOTS`; `limited` starts it in a control group.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from grader import bootstrap
from grader.settings import Settings
from grader.store.records import Role

# Maps shared memory, writes to it and shrinks the mapping: its pages stay, and nobody's limit counts them. Where that
# is refused it takes as much memory of its own as it can get, and keeps it for a while.
ATTACK = """
import ctypes, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
SIZE, NOWHERE, kept = 64 << 20, ctypes.c_void_p(-1).value, []
for _ in range({pieces}):
    place = libc.mmap(None, ctypes.c_size_t(SIZE), 3, 0x21, -1, ctypes.c_long(0))
    if place in (None, NOWHERE):
        break
    ctypes.memset(place, 1, SIZE)
    libc.mremap(ctypes.c_void_p(place), ctypes.c_size_t(SIZE), ctypes.c_size_t(4096), 0)
try:
    while True:
        kept.append(b"x" * (8 << 20))
except MemoryError:
    time.sleep(1)
"""
_PIECES = 160  # of 64 MiB: 10 GiB


def main(data: Path, attacks: int, slots: int) -> None:
    """Grade so many attacks, each beside a right answer."""
    service = bootstrap.build(Settings(data=data, slots=slots, class_code="green-tree"))
    service.start()
    right = service.catalog["softmax"].reference_path.read_text(encoding="utf-8")
    for number in range(attacks):
        ids = []
        for name, source in (("Eve", right + ATTACK.format(pieces=_PIECES)), ("Ada", right)):
            user = service.add_user(f"{name} {number}", "correct horse battery", Role.STUDENT)
            ids.append((user, service.submit(user, "softmax", source)))
        told = []
        for user, id in ids:
            while not (found := service.submission(user, id)).state.final:
                time.sleep(0.02)
            assert found.report is not None
            told.append([found.report.status.value, found.report.score])
        print(json.dumps(told), flush=True)
    service.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
