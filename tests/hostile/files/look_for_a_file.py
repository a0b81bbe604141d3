"""Ask whether a file exists, which Landlock alone would tell.

Expected: error PermissionError
Stopped by: system call filter, namespaces
"""

import os

raise SystemExit(f"through: {os.stat('/etc/passwd').st_size} bytes")
