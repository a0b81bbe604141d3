"""Tell the kernel that the program and its arguments lie elsewhere, so that process lists show what one likes.

Expected: error PermissionError
Stopped by: system call filter, other user
Without walls: refused
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(35, 8, ctypes.c_ulong(id(ctypes)), 0, 0) == 0:
    raise SystemExit("through: our arguments are where we say")
raise OSError(ctypes.get_errno(), "refused")
