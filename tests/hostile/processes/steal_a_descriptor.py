"""Take an open file out of the zygote.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
Needs: x86_64
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
zygote = libc.syscall(434, os.getppid(), 0)
if zygote >= 0 and libc.syscall(438, zygote, 2, 0) >= 0:
    raise SystemExit("through: the zygote's descriptor 2 is ours as well")
raise OSError(ctypes.get_errno(), "refused")
