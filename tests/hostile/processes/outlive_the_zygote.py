"""Take back the promise to die with the zygote.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(1, 0, 0, 0, 0) == 0:
    raise SystemExit("through: the zygote's death means nothing to us")
raise OSError(ctypes.get_errno(), "refused")
