"""Announce four gigabytes, to have the grader allocate them.

Expected: protocol
Stopped by: protocol
"""

import os
import struct

os.write(4, struct.pack("<BBHI", 3, 0, 0, 0xFFFFFFFF))
os._exit(0)
