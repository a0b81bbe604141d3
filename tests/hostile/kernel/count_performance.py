"""Count instructions and cache misses: the finest clock there is, for attacks on other processes by timing.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
"""

import ctypes
import struct

libc = ctypes.CDLL(None, use_errno=True)
wish = struct.pack("=IIQQQQQ", 1, 112, 0, 0, 0, 0, 0b1100001).ljust(112, b"\0")  # software clock, user code only
if libc.syscall(298, ctypes.create_string_buffer(wish, 112), 0, -1, -1, 0) >= 0:
    raise SystemExit("through: counting")
raise OSError(ctypes.get_errno(), "refused")
