"""Execute another program.

Expected: error PermissionError
Stopped by: system call filter, Landlock, process limit
"""

import subprocess

subprocess.run(["/bin/sh", "-c", "id"])
