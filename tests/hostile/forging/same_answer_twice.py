"""Answer the same call twice, a wrong answer and then a right one.

Expected: protocol
Stopped by: protocol
"""

import os
import struct

DONE = b'{"raised": null, "modified": []}'
os.write(4, 2 * (struct.pack("<BBHI", 3, 0, 0, len(DONE)) + DONE))
os._exit(0)
