"""List the network interfaces, which tells containers and machines apart.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import socket

raise SystemExit(f"through: {socket.if_nameindex()}")
