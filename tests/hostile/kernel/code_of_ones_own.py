"""Write machine code and call the kernel from it, past Python, the C library and every hook on them.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
Needs: x86_64
Own: yes
"""

import ctypes
import mmap

page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
place = ctypes.addressof(ctypes.c_char.from_buffer(page))
ctypes.CDLL(None).mprotect(ctypes.c_void_p(place), ctypes.c_size_t(4096), 7)
page.write(b"\xb8\x02\0\0\0\x31\xf6\x0f\x05\xc3")  # mov eax, 2 (open); xor esi, esi; syscall; ret
call = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_char_p)(place)
if (found := call(b"/etc/passwd")) >= 0:
    raise SystemExit(f"through: descriptor {found}")
raise OSError(-found, "refused")
