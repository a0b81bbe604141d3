"""Send the answer byte by byte, slowly, so that the reader waits for ever.

Expected: timeout
Stopped by: clock
"""

import os
import struct
import time

frame = struct.pack("<BBHIIB", 3, 0, 0, 5 + 192, 0, 0)
for byte in frame + bytes(192):
    os.write(4, bytes([byte]))
    time.sleep(0.1)
