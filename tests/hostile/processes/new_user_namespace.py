"""Make a user namespace, in which one is root again and reaches parts of the kernel that were made for root.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(272, 0x10000000) == 0:
    raise SystemExit("through: root of a world of one's own")
raise OSError(ctypes.get_errno(), "refused")
