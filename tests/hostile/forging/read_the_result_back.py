"""Read from the result, to learn what was sent, or to take it back before the grader sees it.

Expected: error PermissionError
Stopped by: system call filter, the kernel
Without walls: refused
Own: yes
"""

import os

raise SystemExit(f"through: {os.read(4, 64)!r}")
