"""Flood the result pipe with noise.

Expected: protocol
Stopped by: the reader refuses the first bad header
"""

import os
import struct

while struct:
    os.write(4, b"\xff" * 65536)
