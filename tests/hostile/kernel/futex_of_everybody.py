"""Wake whoever waits on a page of a library: all processes have the page, and the kernel finds waiters by it.

Two children that know when to wait and when to wake send each other bits; `tests/sandbox/test_siblings.py` has both.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
WAKE_NOT_PRIVATE = 1
word = ctypes.cast(libc.qsort, ctypes.c_void_p).value & -4
if libc.syscall(202, ctypes.c_void_p(word), WAKE_NOT_PRIVATE, 1, None, None, 0) >= 0:
    raise SystemExit("through: whoever waits there, in any process, is awake now")
raise OSError(ctypes.get_errno(), "refused")
