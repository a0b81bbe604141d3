"""Write a forged answer in many pieces, a byte at a time.

Expected: wrong
Stopped by: judged elsewhere
Own: yes
"""

import os
import struct

DONE = b'{"raised": null, "modified": []}'
whole = struct.pack("<BBHIH", 1, 0, 0, 2 + 192, 0) + bytes(192) + struct.pack("<BBHI", 3, 0, 0, len(DONE)) + DONE
whole += struct.pack("<BBHI", 6, 0, 0, 0)
for place in range(len(whole)):
    os.write(4, whole[place : place + 1])
os._exit(0)
