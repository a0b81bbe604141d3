"""Open a socket to the kernel's ciphers, a door that unprivileged users have and that had many bugs.

No namespace and no Landlock rule knows this family.

Expected: error PermissionError
Stopped by: system call filter
Without walls: refused
Own: yes
"""

import socket

socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET).bind(("hash", "sha256"))
raise SystemExit("through: the kernel computes for us")
