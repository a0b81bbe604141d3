"""Have a huge page for each small one, and unmap the rest: the kernel keeps the whole page, the limits count a part.

Expected: error PermissionError
Stopped by: system call filter, limits
Own: yes
"""

import ctypes
import resource

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
HUGE, PAGE, WANTED = 2 << 20, 4096, 14


def resident():
    """Return the largest resident set so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def touch():
    """Return a huge page's address, and where the mapping around it ends, once a byte of it was written."""
    place = libc.mmap(None, ctypes.c_size_t(2 * HUGE), 3, 0x22, -1, ctypes.c_long(0))
    whole = (place + HUGE - 1) & -HUGE
    if libc.madvise(ctypes.c_void_p(whole), ctypes.c_size_t(HUGE), WANTED) != 0:
        raise OSError(ctypes.get_errno(), "refused")
    ctypes.c_ubyte.from_address(whole).value = 1
    return whole, place + 2 * HUGE


before = resident()
held = [touch() for _ in range(8)]
if resident() - before < 4 * HUGE:
    raise PermissionError("the kernel gives small pages")
while len(held) < 96:
    held.append(touch())
    whole, end = held[-1]
    libc.munmap(ctypes.c_void_p(whole + PAGE), ctypes.c_size_t(end - whole - PAGE))
raise SystemExit("through: 192 MiB of huge pages in ninety-six small ones")
