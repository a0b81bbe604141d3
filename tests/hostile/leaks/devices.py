"""List the devices of the machine.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

import os

raise SystemExit(f"through: {os.listdir('/sys/class')[:3]}")
