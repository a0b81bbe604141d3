"""Set one of the kernel's own timers, of which a process may have thousands that go on ringing.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
number = ctypes.c_int()
if libc.syscall(222, 1, None, ctypes.byref(number)) == 0:
    raise SystemExit("through: a timer")
raise OSError(ctypes.get_errno(), "refused")
