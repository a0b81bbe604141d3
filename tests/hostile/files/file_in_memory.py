"""Make a file in memory, to have something that can be executed, mapped as code or handed on.

Expected: error PermissionError
Stopped by: system call filter
"""

import os

os.memfd_create("harmless")
raise SystemExit("through: a file in memory")
