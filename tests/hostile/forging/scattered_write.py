"""Write a forged answer in many pieces, a byte at a time.

Expected: wrong
Stopped by: judged elsewhere
Own: yes
"""

import os
import struct

whole = struct.pack("<BBHIIB", 3, 0, 0, 5 + 192, 0, 0) + bytes(192) + struct.pack("<BBHI", 6, 0, 0, 0)
for place in range(len(whole)):
    os.write(4, whole[place : place + 1])
os._exit(0)
