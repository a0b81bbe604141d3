"""Remove somebody else's submission.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
"""

import os

os.unlink("/srv/grader/submissions/4711.py")
raise SystemExit("through: it is gone")
