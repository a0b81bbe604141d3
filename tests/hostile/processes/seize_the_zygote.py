"""Become the tracer of the zygote, who may read and change everything in it, without stopping it.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
Needs: x86_64
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(101, 0x4206, os.getppid(), 0, 0) == 0:
    raise SystemExit("through: seized")
raise OSError(ctypes.get_errno(), "refused")
