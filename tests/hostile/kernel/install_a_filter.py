"""Install a filter of one's own, which could make calls of the box fail in a chosen way.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
"""

import ctypes
import struct

libc = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000))
program = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", 1, ctypes.addressof(code)))
libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, program, 0, 0) == 0:
    raise SystemExit("through: installed")
raise OSError(ctypes.get_errno(), "refused")
