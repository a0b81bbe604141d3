"""Make pipes and fill them: their bytes are the kernel's memory, which no limit on this process counts.

Expected: error PermissionError
Stopped by: system call filter
"""

import os

while True:
    _, writing = os.pipe()
    os.set_blocking(writing, False)
    os.write(writing, bytes(65536))
