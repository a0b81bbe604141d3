"""Give the database a second name, which outlives its removal.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
"""

import os

os.link("/srv/grader/grades.sqlite", f"/srv/grader/mine-{os.getpid()}")
raise SystemExit("through: linked")
