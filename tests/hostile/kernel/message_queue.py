"""Make a queue of messages, for a submission that comes later.

Expected: error PermissionError
Stopped by: system call filter, Landlock, limits
Needs: x86_64
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(240, f"messages-{os.getpid()}".encode(), 0o102, 0o666, None) >= 0:
    raise SystemExit("through: a queue")
raise OSError(ctypes.get_errno(), "refused")
