"""Talk to a database, or to Docker, over its socket in a folder.

Expected: error PermissionError
Stopped by: system call filter, namespaces
"""

import socket

socket.socket(socket.AF_UNIX).connect("/srv/grader/database.socket")
raise SystemExit("through: connected")
