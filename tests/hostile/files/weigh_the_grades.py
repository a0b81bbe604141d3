"""Ask for the size of the database, to see whether the attempt was counted.

Expected: error PermissionError
Stopped by: system call filter, namespaces
"""

import os

raise SystemExit(f"through: {os.stat('/srv/grader/grades.sqlite').st_size} bytes")
