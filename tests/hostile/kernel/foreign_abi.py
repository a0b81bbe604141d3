"""Make a system call through the 32-bit gate, whose numbers mean something else.

Expected: crashed
Stopped by: system call filter
Needs: x86_64
"""

import ctypes
import mmap

code = bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3])  # mov eax, 20 (getpid there); int 0x80; ret
page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
place = ctypes.addressof(ctypes.c_char.from_buffer(page))
ctypes.CDLL(None).mprotect(ctypes.c_void_p(place), ctypes.c_size_t(4096), 7)
page.write(code)
found = ctypes.CFUNCTYPE(ctypes.c_int)(place)()
if found > 0:
    raise SystemExit(f"through: the gate answers {found}")
raise OSError(-found, "refused")
