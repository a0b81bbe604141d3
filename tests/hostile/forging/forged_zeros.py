"""Write a well-formed answer of zeros to the result pipe, and end with success.

Expected: wrong
Stopped by: judged elsewhere
"""

import os
import struct

TEXT = b'{"raised": null, "modified": [], "largest": null, "slots": ["float64"]}'
ZEROS = bytes(2 * 3 * 4 * 8)
os.write(4, struct.pack("<BHII", 3, 0, len(TEXT), len(ZEROS)) + TEXT + ZEROS + struct.pack("<BHII", 6, 0, 0, 0))
os._exit(0)
