"""Write a well-formed answer of zeros to the result pipe, and end with success.

Expected: wrong
Stopped by: judged elsewhere
"""

import os
import struct

ZEROS = bytes(2 * 3 * 4 * 8)
os.write(4, struct.pack("<BBHIIB", 3, 0, 0, 5 + len(ZEROS), 0, 0) + ZEROS + struct.pack("<BBHI", 6, 0, 0, 0))
os._exit(0)
