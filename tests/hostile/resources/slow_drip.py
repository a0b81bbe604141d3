"""Send the answer byte by byte, slowly, so that the reader waits for ever.

Expected: timeout
Stopped by: clock
"""

import os
import struct
import time

TEXT = b'{"raised": null, "modified": [], "largest": null, "slots": ["float64"]}'
for byte in struct.pack("<BHII", 3, 0, len(TEXT), 192) + TEXT + bytes(192):
    os.write(4, bytes([byte]))
    time.sleep(0.1)
