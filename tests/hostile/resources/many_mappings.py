"""Map a page at a time, each with other rights than its neighbour, until the kernel's table is full.

Expected: error OSError
Stopped by: limits, the kernel
"""

import mmap

kept = []
while True:
    kept.append(mmap.mmap(-1, 4096, prot=mmap.PROT_READ if len(kept) % 2 else mmap.PROT_READ | mmap.PROT_WRITE))
