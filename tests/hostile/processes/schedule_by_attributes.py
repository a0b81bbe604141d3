"""Ask for another kind of scheduling by the newer call, with a utilisation that keeps the core at full speed.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
Own: yes
"""

import ctypes
import struct

libc = ctypes.CDLL(None, use_errno=True)
wish = ctypes.create_string_buffer(struct.pack("=IIQiIQQQ", 48, 3, 0, 19, 0, 0, 0, 0), 48)  # SCHED_BATCH, last
if libc.syscall(314, 0, wish, 0) == 0:
    raise SystemExit("through: scheduled as asked")
raise OSError(ctypes.get_errno(), "refused")
