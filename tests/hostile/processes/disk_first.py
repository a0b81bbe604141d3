"""Have one's reads and writes go before everybody else's.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(251, 1, 0, 2 << 13) == 0:
    raise SystemExit("through: the best rank of an ordinary user")
raise OSError(ctypes.get_errno(), "refused")
