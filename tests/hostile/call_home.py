"""Open a connection to another machine.

Expected: error PermissionError
Stopped by: system call filter, Landlock, empty network
"""

import socket

socket.create_connection(("127.0.0.1", 80), timeout=1)
