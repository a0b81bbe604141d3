"""Use whatever file or socket is open already: what came with the fork needs no permission any more.

Expected: error FileNotFoundError
Stopped by: system call filter, clean start
"""

import fcntl

found = []
for number in range(5, 1024):
    try:
        fcntl.fcntl(number, fcntl.F_GETFD)
    except OSError:
        continue
    found.append(number)
if found:
    raise SystemExit(f"through: {found} are open")
raise FileNotFoundError("nothing but our own is open")
