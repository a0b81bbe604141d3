"""Have the processor raise a fault at its time stamp counter, to crash whoever measures in this process.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(26, 1, 0, 0, 0) == 0:
    raise SystemExit("through: set as asked")
raise OSError(ctypes.get_errno(), "refused")
