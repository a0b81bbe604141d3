"""Ask the cloud for the machine's own credentials.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

import socket

socket.create_connection(("169.254.169.254", 80), timeout=1)
raise SystemExit("through: connected")
