"""Make a set of semaphores; a count is a message too.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(64, 4711, 1, 0o1666) >= 0:
    raise SystemExit("through: semaphores")
raise OSError(ctypes.get_errno(), "refused")
