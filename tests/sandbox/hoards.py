"""Ways to hold memory that a limit may miss: each takes what it can, and the ordinary way takes the rest.

Unlike the attacks in `tests/hostile/resources/` these go on where they are refused, so that what the kernel holds in
the end can be measured.
"""

from __future__ import annotations

_TOOLS = """
import ctypes, struct
M, PAGE, HUGE = 1 << 20, 4096, 2 << 20
libc = ctypes.CDLL(None, use_errno=True)
word = ctypes.c_size_t
libc.mmap.argtypes = [word, word, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes, libc.memset.argtypes = [word, word], [word, ctypes.c_int, word]
libc.mprotect.argtypes = libc.madvise.argtypes = [word, word, ctypes.c_int]
libc.mremap.argtypes = [word, word, word, ctypes.c_int]
for call in (libc.mmap, libc.mremap, libc.sbrk):
    call.restype = word
NOWHERE, PRIVATE, SHARED = (1 << 64) - 1, 0x22, 0x21

def take(size, flags=PRIVATE, place=0):
    "Return where new memory is, all of it written to, or None."
    found = libc.mmap(place, size, 3, flags, -1, 0)
    if found != NOWHERE:
        libc.memset(found, 1, size)
        return found

class Library(ctypes.Structure):
    pass

Library._fields_ = [("base", word), ("name", ctypes.c_char_p), ("_", word), ("next", ctypes.POINTER(Library))]

def segments():
    "Yield name, rights, address and length of what libraries have in memory."
    library = ctypes.cast(libc._handle, ctypes.POINTER(Library))
    while library:
        base, name = library.contents.base, library.contents.name
        library = library.contents.next
        if not name or ctypes.string_at(base, 4) != b"\\x7fELF":
            continue
        offset, count = struct.unpack("32xQ16xH6x", ctypes.string_at(base, 64))
        for number in range(count):
            header = struct.unpack("=IIQQQQQQ", ctypes.string_at(base + offset + 56 * number, 56))
            if header[0] == 1:
                yield name, header[1], base + (header[3] & -PAGE), header[6] & -PAGE

def make_room():
    for name, rights, start, length in list(segments()):
        if b"libtorch_cpu" in name and not rights & 2:
            libc.munmap(start, length)
"""
_REST = """
size = M
while size >= PAGE:
    if take(size) is None:
        size //= 4
libc._exit(0)
"""

WAYS = {
    "nothing but the ordinary way": "",
    "the heap": "while libc.sbrk(M) != NOWHERE: libc.memset(libc.sbrk(0) - M, 1, M)",
    "shared memory, its mapping shrunk": """
for _ in range(16):
    if (place := take(32 * M, SHARED)) is not None:
        libc.mremap(place, 32 * M, PAGE, 1)
        libc.munmap(place + PAGE, 32 * M - PAGE)
""",
    "huge pages, unmapped but for one small page": """
for _ in range(256):
    place = libc.mmap(0, 2 * HUGE, 3, PRIVATE, -1, 0)
    if place != NOWHERE:
        whole = (place + HUGE - 1) & -HUGE
        libc.madvise(whole, HUGE, 14)
        libc.memset(whole, 1, 1)
        libc.munmap(whole + PAGE, place + 2 * HUGE - whole - PAGE)
""",
    "copies of the pages of libraries": """
def copy():
    for name, rights, start, length in list(segments()):
        if not rights & 2 and b"libtorch" in name and (
            libc.mprotect(start, length, 7) == 0 or libc.mprotect(start, length, 3) == 0
        ):
            for page in range(start, start + length, PAGE):
                ctypes.memmove(page, page, 1)

copy()
while take(M):  # where addresses are short, the kernel may forget to look
    pass
copy()
""",
    "memory that was written to and is read-only then": """
make_room()
for _ in range(64):
    if (place := take(8 * M)) is not None:
        libc.mprotect(place, 8 * M, 1)
""",
    "the stack, moved and enlarged": """
make_room()
top = ctypes.c_size_t.in_dll(libc, "environ").value & -PAGE
for back in range(64):
    place = libc.mremap(top - PAGE * back, PAGE, 300 * M, 1)
    if place != NOWHERE:
        libc.memset(place + PAGE, 1, 300 * M - PAGE)
        break
""",
    "single pages far apart": """
for number in range(1, 20_000):
    if take(PAGE, place=number << 30) is None:
        break
""",
}


def source(way: str) -> str:
    """Return the submission that holds all it can in this way."""
    return _TOOLS + WAYS[way] + _REST
