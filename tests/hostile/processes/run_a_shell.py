"""Run a shell and read what it says.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, limits
"""

import subprocess

said = subprocess.run(["/bin/sh", "-c", "id"], capture_output=True, text=True).stdout
raise SystemExit(f"through: {said[:40]}")
