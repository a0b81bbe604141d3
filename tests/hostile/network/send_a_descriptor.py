"""Hand a descriptor to somebody at a socket without a name, who may keep it when this process is gone.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import socket

near, far = socket.socketpair()
socket.send_fds(near, [b"take it"], [4])
raise SystemExit(f"through: {socket.recv_fds(far, 16, 1)[1]}")
