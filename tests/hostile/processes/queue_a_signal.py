"""Send a signal with a value by `rt_sigqueueinfo`, a call that lists of forbidden ones forget.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
Needs: x86_64
Own: yes
"""

import ctypes
import os
import struct

if os.getppid() == 0:
    raise ProcessLookupError("the parent is in another world")
libc = ctypes.CDLL(None, use_errno=True)
facts = ctypes.create_string_buffer(struct.pack("=iii", 0, 0, -1), 128)  # number 0, from a queue
if libc.syscall(129, os.getppid(), 0, facts) == 0:
    raise SystemExit("through: it would have had the signal")
raise OSError(ctypes.get_errno(), "refused")
