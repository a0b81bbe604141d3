"""Report a page of memory as broken, so that the kernel takes it away from everybody who shares it.

After a fork nearly all pages are shared with the zygote.

Expected: error PermissionError
Stopped by: system call filter, other user
Without walls: refused
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
place = id(ctypes) & ~4095
if libc.madvise(ctypes.c_void_p(place), ctypes.c_size_t(4096), 100) == 0:
    raise SystemExit("through: a shared page is gone")
raise OSError(ctypes.get_errno(), "refused")
