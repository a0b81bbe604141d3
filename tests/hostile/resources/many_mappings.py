"""Map a page at a time, each with other rights than its neighbour, until the kernel's table is full.

Expected: error OSError
Stopped by: limits, the kernel
"""

import ctypes
import mmap

libc = ctypes.CDLL(None)
kept = []
while True:
    kept.append(mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    if len(kept) % 2:
        place = ctypes.addressof(ctypes.c_char.from_buffer(kept[-1]))
        libc.mprotect(ctypes.c_void_p(place), ctypes.c_size_t(4096), 7)
