"""Ask whether a file exists, which Landlock alone would tell.

Expected: error PermissionError
Stopped by: system call filter
"""

import os

os.stat("/etc/passwd")
