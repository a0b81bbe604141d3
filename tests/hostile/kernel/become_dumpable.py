"""Open one's own memory to others again, so that an accomplice of the same user can read it.

Expected: error PermissionError
Stopped by: system call filter
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(4, 1, 0, 0, 0) == 0:
    raise SystemExit("through: dumpable again")
raise OSError(ctypes.get_errno(), "refused")
