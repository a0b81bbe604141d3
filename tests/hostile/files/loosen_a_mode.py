"""Open a file of the service's user for everybody.

Expected: error PermissionError
Stopped by: system call filter, namespaces, other user
"""

import os

os.chmod("/srv/grader/notes.txt", 0o666)
raise SystemExit("through: anybody may write it now")
