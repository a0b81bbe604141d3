"""Make the pages of the libraries writable and write to each: every one becomes a copy that a limit on addresses misses.

Torch's code alone is two and a half times the limit of this run.

Expected: error OSError
Stopped by: limits
Needs: x86_64
Own: yes
"""

import ctypes
import struct


class Library(ctypes.Structure):
    """What the C library's handle of a loaded library points to."""


LIBRARY = ctypes.POINTER(Library)
Library._fields_ = [("base", ctypes.c_size_t), ("name", ctypes.c_char_p), ("_", ctypes.c_void_p), ("next", LIBRARY)]


def segments(base):
    """Yield the flags, the first address and the length of what a library has in memory."""
    offset, count = struct.unpack("32xQ16xH6x", ctypes.string_at(base, 64))[:2]
    for number in range(count):
        kind, flags, _, start, _, _, length, _ = struct.unpack("=IIQQQQQQ", ctypes.string_at(base + offset + 56 * number, 56))
        if kind == 1:
            yield flags, base + (start & -4096), length & -4096


libc = ctypes.CDLL(None, use_errno=True)
library, copied = ctypes.cast(libc._handle, LIBRARY), 0
while library:
    if b"libtorch_cpu" in library.contents.name:
        for flags, start, length in segments(library.contents.base):
            if not flags & 2:
                if libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(length), 7) != 0:
                    raise OSError(ctypes.get_errno(), "refused")
                for page in range(start, start + length, 4096):
                    byte = ctypes.c_ubyte.from_address(page)
                    byte.value = byte.value
                copied += length
    library = library.contents.next
raise SystemExit(f"through: {copied >> 20} MiB of copies") if copied > 128 << 20 else MemoryError("not that much")
