"""Take a personality in which every page that can be read can be executed, and addresses are not random.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.personality(ctypes.c_ulong(0x0440000)) >= 0:
    raise SystemExit("through: read means execute")
raise OSError(ctypes.get_errno(), "refused")
