"""Sleep inside a C call that keeps the interpreter's lock.

Expected: timeout
Stopped by: clock
"""

import ctypes

UNTIL = (ctypes.c_long * 2)(1 << 40, 0)
ctypes.PyDLL(None).clock_nanosleep(1, 1, UNTIL, None)
