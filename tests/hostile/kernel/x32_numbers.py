"""Make a system call by the numbers of x32, the ABI that a filter forgets first.

Expected: crashed
Stopped by: system call filter
Without walls: refused
Needs: x86_64
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(0x40000000 + 39) > 0:
    raise SystemExit("through: x32 answers")
raise OSError(ctypes.get_errno(), "refused")
