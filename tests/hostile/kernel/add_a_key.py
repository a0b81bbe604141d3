"""Put a message on a keyring that all processes of this user share.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(248, b"user", b"message", b"42", 2, -4) >= 0:  # the user's own ring
    raise SystemExit("through: every later run can read it")
raise OSError(ctypes.get_errno(), "refused")
