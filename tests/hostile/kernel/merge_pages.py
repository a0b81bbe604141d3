"""Have the kernel merge equal pages of memory over all processes; how long a write takes then tells who else has one.

Guess a page of somebody's memory, wait, write: slow means that it was there.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import ctypes
import mmap

libc = ctypes.CDLL(None, use_errno=True)
page = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
place = ctypes.addressof(ctypes.c_char.from_buffer(page))
if libc.madvise(ctypes.c_void_p(place), ctypes.c_size_t(4096), 12) == 0:
    raise SystemExit("through: this page will be merged with others")
raise OSError(ctypes.get_errno(), "refused")
