"""Answer the same call twice, a wrong answer and then a right one.

Expected: protocol
Stopped by: protocol
"""

import os
import struct

os.write(4, 2 * (struct.pack("<BBHIIB", 3, 0, 0, 5 + 192, 0, 0) + bytes(192)))
os._exit(0)
