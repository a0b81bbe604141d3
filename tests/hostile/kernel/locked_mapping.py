"""Map memory that is locked from the start: `mmap` is allowed, and does by a flag what `mlock` is refused.

Expected: error PermissionError
Stopped by: system call filter, limits
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
place = libc.mmap(None, ctypes.c_size_t(1 << 22), 3, 0x2022, -1, ctypes.c_long(0))
if place not in (None, ctypes.c_void_p(-1).value):
    raise SystemExit("through: four mebibytes that nobody can swap out")
raise OSError(ctypes.get_errno(), "refused")
