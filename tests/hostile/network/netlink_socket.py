"""Ask the kernel about its network over netlink, a large part of the kernel that ordinary users reach.

Expected: error PermissionError
Stopped by: system call filter
"""

import socket

socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0))
raise SystemExit("through: netlink answers")
