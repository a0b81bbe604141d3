"""Make a segment of shared memory, which stays when its maker is gone.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(29, 4711, 4096, 0o1666) >= 0:
    raise SystemExit("through: a segment for whoever comes next")
raise OSError(ctypes.get_errno(), "refused")
