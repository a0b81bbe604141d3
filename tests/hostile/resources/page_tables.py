"""Put single pages far apart, by asking for addresses: each needs two more pages for tables, which no limit counts.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
for number in range(1, 1000):
    wanted = number << 30
    place = libc.mmap(ctypes.c_void_p(wanted), ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))
    if place == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "refused")
    ctypes.c_ubyte.from_address(place).value = 1
raise SystemExit("through: a thousand pages, and two thousand of tables for them")
