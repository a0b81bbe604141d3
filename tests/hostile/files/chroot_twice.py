"""Leave a chroot by the old trick: chroot into a folder below, then climb.

Expected: error PermissionError
Stopped by: system call filter, other user
Without walls: refused
"""

import os

os.chroot("/tmp")
raise SystemExit("through: another root")
