"""Send what was found out over UDP, of which Landlock knows nothing.

Expected: error PermissionError
Stopped by: system call filter, namespaces
"""

import socket

socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"the inputs", ("127.0.0.1", 5353))
raise SystemExit("through: sent")
