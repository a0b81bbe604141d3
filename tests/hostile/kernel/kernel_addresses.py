"""Hand the kernel its own addresses, and have it copy what is there into the prints.

Expected: error OSError
Stopped by: the kernel
Without walls: refused
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
for place in (0xFFFFFFFF81000000, 0xFFFF888000000000, 0xFFFFFFFFFF600000, 0xFFFF800000000000):
    if (count := libc.write(1, ctypes.c_void_p(place), ctypes.c_size_t(64))) > 0:
        raise SystemExit(f"through: {count} bytes of the kernel")
raise OSError(ctypes.get_errno(), "refused")
