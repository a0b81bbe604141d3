"""Say that all is done, and go on.

Expected: protocol
Stopped by: protocol
"""

import os
import struct

os.write(4, struct.pack("<BHII", 6, 0, 0, 0) + b"and one more thing")
os._exit(0)
