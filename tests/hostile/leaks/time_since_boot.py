"""Ask for the processor time of one's children, which comes with the time since the machine was started.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
told = libc.syscall(100, None)
if told > 0:
    raise SystemExit(f"through: {told / 100:.0f} seconds, give or take the kernel's offset")
raise OSError(ctypes.get_errno(), "refused")
