"""Ask where the zygote keeps its list of locks, which is an address inside of it.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
Needs: x86_64
Own: yes
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
place, size = ctypes.c_void_p(), ctypes.c_size_t()
if os.getppid() == 0:
    raise ProcessLookupError("the parent is in another world")
if libc.syscall(274, os.getppid(), ctypes.byref(place), ctypes.byref(size)) == 0:
    raise SystemExit(f"through: {place.value:#x}")
raise OSError(ctypes.get_errno(), "refused")
