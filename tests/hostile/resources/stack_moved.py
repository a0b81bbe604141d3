"""Have the stack's own mapping moved and enlarged: stacks do not count as data, and a limit on stacks is not asked here.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mremap.restype = ctypes.c_void_p
environ = ctypes.c_void_p.in_dll(libc, "environ")
page = environ.value & -4096
environ.value = None  # whoever reads it afterwards would read what has moved, and die before it can tell
for back in range(64):
    place = libc.mremap(ctypes.c_void_p(page - 4096 * back), ctypes.c_size_t(4096), ctypes.c_size_t(64 << 20), 1)
    if place not in (None, ctypes.c_void_p(-1).value):
        raise SystemExit("through: a stack of 64 MiB elsewhere")
raise OSError(ctypes.get_errno(), "refused")
