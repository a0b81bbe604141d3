"""Join a keyring by its name, on which others may have keys.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(250, 1, b"meeting-place") >= 0:
    raise SystemExit("through: joined")
raise OSError(ctypes.get_errno(), "refused")
