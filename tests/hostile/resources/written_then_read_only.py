"""Write to memory and take the right to write away: it no longer counts as data, and makes room for more.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
place = libc.mmap(None, ctypes.c_size_t(1 << 22), 3, 0x22, -1, ctypes.c_long(0))
libc.memset(ctypes.c_void_p(place), 1, ctypes.c_size_t(1 << 22))
if libc.mprotect(ctypes.c_void_p(place), ctypes.c_size_t(1 << 22), 1) == 0:
    raise SystemExit("through: four mebibytes that are held and not counted as data")
raise OSError(ctypes.get_errno(), "refused")
