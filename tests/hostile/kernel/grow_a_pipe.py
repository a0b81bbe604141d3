"""Enlarge the pipes to what a user may have in all, so that nobody else gets a large one.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import fcntl

size = fcntl.fcntl(1, 1031, 1 << 20)
raise SystemExit(f"through: {size} bytes of the kernel's memory")
