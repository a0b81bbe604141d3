"""Read from the result, to learn what was sent, or to take it back before the grader sees it.

Expected: error OSError
Stopped by: the kernel
Without walls: refused
Own: yes
"""

import os

raise SystemExit(f"through: {os.read(4, 64)!r}")
