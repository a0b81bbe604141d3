"""Map the memory that holds the job as shared and writable, which a seal on writing must refuse as well.

Expected: error PermissionError
Stopped by: system call filter, the kernel
Without walls: refused
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
place = libc.mmap(None, ctypes.c_size_t(4096), 3, 1, 3, ctypes.c_long(0))
if place not in (None, ctypes.c_void_p(-1).value):
    raise SystemExit("through: the job lies open")
raise OSError(ctypes.get_errno(), "refused")
