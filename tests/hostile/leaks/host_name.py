"""Ask for the name of the machine.

Expected: error PermissionError
Stopped by: system call filter
"""

import os

raise SystemExit(f"through: {os.uname().nodename}")
