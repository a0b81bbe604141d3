"""Fork without end, to fill the table of processes.

Expected: error PermissionError
Stopped by: system call filter, limits
"""

import os

while True:
    os.fork()
