"""Set up a ring for reading and writing in the background, the older of the kernel's two.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
ring = ctypes.c_ulong(0)
if libc.syscall(206, 16, ctypes.byref(ring)) == 0:
    raise SystemExit("through: a ring in the kernel")
raise OSError(ctypes.get_errno(), "refused")
