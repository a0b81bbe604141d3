"""Sleep inside a C call that keeps the interpreter's lock.

Expected: timeout
Stopped by: clock
"""

import ctypes

ctypes.PyDLL(None).usleep(1_000_000_000)
