"""Ask for a mapping in the machine's reserved huge pages, of which it has few and others may need them.

Expected: error OSError
Stopped by: limits, the kernel
Without walls: refused
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
place = libc.mmap(None, ctypes.c_size_t(1 << 28), 3, 0x40022, -1, ctypes.c_long(0))
if place not in (None, ctypes.c_void_p(-1).value):
    raise SystemExit("through: a quarter of a gigabyte of huge pages")
raise OSError("refused")
