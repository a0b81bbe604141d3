"""Have every core of the machine interrupted, again and again: a barrier that costs others more than oneself.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(324, 1, 0, 0) == 0:
    raise SystemExit("through: all cores were interrupted")
raise OSError(ctypes.get_errno(), "refused")
