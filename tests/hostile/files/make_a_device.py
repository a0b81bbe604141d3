"""Make a device file for the first disk, and read it raw.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
Without walls: refused
"""

import os
import stat

os.mknod("/tmp/disk", 0o600 | stat.S_IFBLK, os.makedev(254, 0))
raise SystemExit("through: a device")
