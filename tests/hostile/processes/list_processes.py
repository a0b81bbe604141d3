"""List the processes of the machine.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

import os

others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
raise SystemExit(f"through: {len(others)} others")
