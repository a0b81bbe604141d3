"""Open a connection to the pages themselves, which trust this machine.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

import socket

socket.create_connection(("127.0.0.1", 7860), timeout=1)
raise SystemExit("through: connected")
