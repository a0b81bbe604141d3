"""Unmap torch's library, of which no more is needed, and fill the addresses that this frees with memory of one's own.

Expected: memory
Stopped by: limits, clock
Own: yes
"""

import ctypes
import mmap
import os

import torch  # noqa: F401  # it is there already; its text is what is unmapped

MIB = 1 << 20
libc = ctypes.CDLL(None)
library = ctypes.CDLL("libtorch_cpu.so")
inside = ctypes.cast(library.cblas_sgemm if hasattr(library, "cblas_sgemm") else library.sgemm_, ctypes.c_void_p).value
start = (inside & ~4095) + 64 * 4096
kept = []
for piece in range(160):  # whatever is not mapped there is no error
    libc.munmap(ctypes.c_void_p(start + piece * MIB), ctypes.c_size_t(MIB))
try:
    while True:
        kept.append(mmap.mmap(-1, 4 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        for page in range(0, 4 * MIB, 4096):
            kept[-1][page] = 1
except (OSError, ValueError, MemoryError):
    os._exit(1)
