"""Ask for memory that not even the kernel maps, where nobody could look for what a run hides.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(447, 0) >= 0:
    raise SystemExit("through: hidden memory")
raise OSError(ctypes.get_errno(), "refused")
