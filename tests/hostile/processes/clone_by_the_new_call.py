"""Make a process by clone3, whose flags lie in memory where no filter can see them.

Expected: error OSError
Stopped by: system call filter, limits
Needs: x86_64
"""

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
wish = ctypes.create_string_buffer(struct.pack("=8Q", 0, 0, 0, 0, 17, 0, 0, 0), 64)
child = libc.syscall(435, wish, 64)
if child == 0:
    os._exit(0)
if child > 0:
    os.waitpid(child, 0)
    raise SystemExit("through: a process was made")
raise OSError(ctypes.get_errno(), "refused")
