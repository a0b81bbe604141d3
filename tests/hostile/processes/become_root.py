"""Change to user 0.

Expected: error PermissionError
Stopped by: system call filter, other user
Without walls: refused
"""

import os

os.setuid(0)
raise SystemExit("through: root")
