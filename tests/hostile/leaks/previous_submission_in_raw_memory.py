"""Look for an earlier submission in memory that is free by now, byte by byte, asking the kernel what is mapped.

Expected: right
Stopped by: clean start, own fork
Without walls: refused
Needs: x86_64
"""

import ctypes
import errno

import torch

libc = ctypes.CDLL(None, use_errno=True)
WAIT, NEVER, NOW = 128, 0x5EED5EED, (ctypes.c_long * 2)(0, 0)
libc.sbrk.restype = ctypes.c_void_p
end = libc.sbrk(0)
word = b"kes" + b"trel, said " + b"the submission before"
needle = b"the own nee" + b"dle"
own = [bytes(size) + needle for size in (1000, 10_000, 100_000) for _ in range(8)]  # in old holes, and at the end
seen = False
for page in range(end - (16 << 20), end, 4096):
    if libc.syscall(202, ctypes.c_void_p(page), WAIT, NEVER, NOW, None, 0) and ctypes.get_errno() == errno.EFAULT:
        continue
    found = ctypes.string_at(page, 4096)
    seen = seen or needle in found
    if word in found:
        raise SystemExit("through: an earlier submission")
if not seen:
    raise LookupError("this search is blind")


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
