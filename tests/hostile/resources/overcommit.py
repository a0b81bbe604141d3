"""Map far more than there is without touching it, and hope that only what is touched counts.

Expected: error OSError
Stopped by: limits
Own: yes
"""

import mmap

PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
kept = [mmap.mmap(-1, 1 << 32, flags=PRIVATE) for _ in range(64)]
raise SystemExit("through: 256 GiB of addresses")
