"""Type a command into the terminal of whoever started the service.

Expected: error PermissionError
Stopped by: system call filter, clean start
Without walls: refused
"""

import fcntl
import termios

fcntl.ioctl(0, termios.TIOCSTI, b"#")
raise SystemExit("through: typed")
