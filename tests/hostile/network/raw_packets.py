"""Listen to every packet of the machine.

Expected: error PermissionError
Stopped by: system call filter, other user
Without walls: refused
"""

import socket

socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
raise SystemExit("through: all packets")
