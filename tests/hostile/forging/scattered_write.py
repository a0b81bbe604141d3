"""Write a forged answer in many pieces, a byte at a time.

Expected: wrong
Stopped by: judged elsewhere
Own: yes
"""

import os
import struct

TEXT = b'{"raised": null, "modified": [], "largest": null, "slots": ["float64"]}'
whole = struct.pack("<BHII", 3, 0, len(TEXT), 192) + TEXT + bytes(192) + struct.pack("<BHII", 6, 0, 0, 0)
for place in range(len(whole)):
    os.write(4, whole[place : place + 1])
os._exit(0)
