"""Flood the result pipe with noise.

Expected: protocol
Stopped by: protocol
"""

import os
import struct

while struct:
    os.write(4, b"\xff" * 65536)
