"""Ask how much memory is free and how many processes run; the differences tell what others do.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
facts = (ctypes.c_ulong * 32)()
if libc.sysinfo(facts) == 0:
    raise SystemExit(f"through: {facts[5]} bytes are free")
raise OSError(ctypes.get_errno(), "refused")
