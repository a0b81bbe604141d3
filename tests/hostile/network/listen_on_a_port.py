"""Open a port and wait for an accomplice, or for a browser that is led there.

Expected: error PermissionError
Stopped by: system call filter, Landlock
"""

import socket

with socket.socket() as server:
    server.bind(("127.0.0.1", 0))
    server.listen()
    raise SystemExit("through: listening")
