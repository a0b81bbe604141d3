"""Become the one to whom orphans fall, which keeps them away from whoever counts them.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(36, 1, 0, 0, 0) == 0:
    raise SystemExit("through: orphans fall to us")
raise OSError(ctypes.get_errno(), "refused")
