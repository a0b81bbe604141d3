"""Lock memory, so that others have to be swapped out.

Expected: error PermissionError
Stopped by: system call filter, limits
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.mlock(ctypes.c_void_p(id(ctypes) & ~4095), ctypes.c_size_t(4096)) == 0:
    raise SystemExit("through: locked")
raise OSError(ctypes.get_errno(), "refused")
