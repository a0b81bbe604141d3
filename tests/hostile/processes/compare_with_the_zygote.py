"""Ask the kernel whether the zygote and this process share their memory, files or signal handlers.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
Needs: x86_64
Own: yes
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if os.getppid() == 0:
    raise ProcessLookupError("the parent is in another world")
if libc.syscall(312, os.getpid(), os.getppid(), 1, 0, 0) >= 0:
    raise SystemExit("through: it told the order of two kernel addresses")
raise OSError(ctypes.get_errno(), "refused")
