"""Empty a file of the service.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
"""

import os

os.truncate("/srv/grader/notes.txt", 0)
raise SystemExit("through: it is empty now")
