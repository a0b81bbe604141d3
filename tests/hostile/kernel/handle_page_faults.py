"""Handle one's own page faults, which lets one stop the kernel in the middle of a call.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(323, 1) >= 0:
    raise SystemExit("through: the kernel waits for us")
raise OSError(ctypes.get_errno(), "refused")
