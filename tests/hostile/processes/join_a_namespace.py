"""Move into the zygote's network, which may have more in it.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
Without walls: refused
Needs: x86_64
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
there = os.open(f"/proc/{os.getppid()}/ns/net", os.O_RDONLY)
if libc.syscall(308, there, 0) == 0:
    raise SystemExit("through: moved")
raise OSError(ctypes.get_errno(), "refused")
