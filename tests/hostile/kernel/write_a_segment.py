"""Write an entry of the processor's table of segments, old machinery with a history of kernel bugs.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
Own: yes
"""

import ctypes
import struct

libc = ctypes.CDLL(None, use_errno=True)
entry = ctypes.create_string_buffer(struct.pack("=IIII", 0, 0, 0xFFFFF, 0b1010001), 16)
if libc.syscall(154, 1, entry, 16) == 0:
    raise SystemExit("through: a segment of our own")
raise OSError(ctypes.get_errno(), "refused")
