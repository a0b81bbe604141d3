"""Answer the same call twice, a wrong answer and then a right one.

Expected: protocol
Stopped by: protocol
"""

import os
import struct

TEXT = b'{"raised": null, "modified": [], "largest": null, "slots": ["float64"]}'
os.write(4, 2 * (struct.pack("<BHII", 3, 0, len(TEXT), 192) + TEXT + bytes(192)))
os._exit(0)
