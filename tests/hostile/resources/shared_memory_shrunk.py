"""Map shared memory, touch all of it, and shrink the mapping to a page: the kernel keeps the pages, no limit counts them.

Four times the limit are held that way. Enlarging a mapping again shows that what was written is still there.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
SHARED, PIECE, PAGE = 0x21, ctypes.c_size_t(32 << 20), ctypes.c_size_t(4096)
held = []
for _ in range(16):
    place = libc.mmap(None, PIECE, 3, SHARED, -1, ctypes.c_long(0))
    if place == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "refused")
    libc.memset(ctypes.c_void_p(place), 7, PIECE)
    held.append(libc.mremap(ctypes.c_void_p(place), PIECE, PAGE, 1))
first = libc.mremap(ctypes.c_void_p(held[0]), PAGE, PIECE, 1)
if ctypes.c_ubyte.from_address(first + PIECE.value - 1).value == 7:
    raise SystemExit("through: 512 MiB of shared memory in sixteen pages")
raise PermissionError("the kernel let the pages go")
