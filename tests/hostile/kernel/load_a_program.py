"""Load a program into the kernel.

Expected: error PermissionError
Stopped by: system call filter, other user
Without walls: refused
Needs: x86_64
"""

import ctypes
import struct

libc = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(struct.pack("=BBhiBBhi", 0xB7, 0, 0, 0, 0x95, 0, 0, 0))  # r0 = 0; exit
licence = ctypes.create_string_buffer(b"GPL")
wish = struct.pack("=IIQQ", 1, 2, ctypes.addressof(code), ctypes.addressof(licence)).ljust(128, b"\0")
if libc.syscall(321, 5, ctypes.create_string_buffer(wish), 128) >= 0:
    raise SystemExit("through: loaded")
raise OSError(ctypes.get_errno(), "refused")
