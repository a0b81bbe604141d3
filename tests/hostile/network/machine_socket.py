"""Talk to the host of this virtual machine, which no network namespace separates.

Expected: error PermissionError
Stopped by: system call filter
"""

import socket

socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
raise SystemExit("through: a line to the host")
