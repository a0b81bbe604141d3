"""Announce four gigabytes, to have the grader allocate them.

Expected: protocol
Stopped by: protocol
"""

import os
import struct

os.write(4, struct.pack("<BHII", 3, 0, 0xFFFFFFFF, 0xFFFFFFFF))
os._exit(0)
