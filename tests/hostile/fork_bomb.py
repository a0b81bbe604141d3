"""Fork without end, to fill the table of processes.

Expected: error PermissionError
Stopped by: system call filter, process limit
"""

import os

while True:
    os.fork()
