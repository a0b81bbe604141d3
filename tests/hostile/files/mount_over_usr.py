"""Lay an empty file system over /usr.

Expected: error PermissionError
Stopped by: system call filter, Landlock, other user
Without walls: refused
Needs: x86_64
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(165, b"none", b"/usr", b"tmpfs", 0, None) == 0:
    raise SystemExit("through: mounted")
raise OSError(ctypes.get_errno(), "refused")
