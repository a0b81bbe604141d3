"""Have io_uring make the socket: its requests pass by a filter on system calls.

Expected: error PermissionError
Stopped by: system call filter, limits
Needs: x86_64
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(425, 4, ctypes.create_string_buffer(120)) >= 0:
    raise SystemExit("through: a ring")
raise OSError(ctypes.get_errno(), "refused")
