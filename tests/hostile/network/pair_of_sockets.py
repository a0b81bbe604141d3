"""Make a pair of sockets: harmless, and the beginning of sending descriptors about.

Expected: error PermissionError
Stopped by: system call filter
"""

import socket

socket.socketpair()
raise SystemExit("through: a pair")
