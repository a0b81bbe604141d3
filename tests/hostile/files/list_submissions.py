"""List the folder of all submissions, to copy one.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

import os

raise SystemExit(f"through: {os.listdir('/srv/grader/submissions')}")
