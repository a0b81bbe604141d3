"""Make a system call through the 32-bit gate, whose numbers mean something else.

Expected: crashed
Stopped by: system call filter
Needs: x86_64
"""

import ctypes
import mmap

code = bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3])  # mov eax, 20 (getpid there); int 0x80; ret
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
found = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
if found > 0:
    raise SystemExit(f"through: the gate answers {found}")
raise OSError(-found, "refused")
