"""Take the kernel's handle of a file, which opens it without a path on the way.

Expected: error PermissionError
Stopped by: system call filter, namespaces
Needs: x86_64
"""

import ctypes
import struct

libc = ctypes.CDLL(None, use_errno=True)
handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0), 136)
mount = ctypes.c_int()
if libc.syscall(303, -100, b"/srv/grader/notes.txt", handle, ctypes.byref(mount), 0) == 0:
    raise SystemExit("through: a handle")
raise OSError(ctypes.get_errno(), "refused")
