"""Write a forged answer in many pieces by one gathering call.

Expected: wrong
Stopped by: judged elsewhere
Own: yes
"""

import os
import struct

DONE = b'{"raised": null, "modified": []}'
whole = struct.pack("<BBHIH", 1, 0, 0, 2 + 192, 0) + bytes(192) + struct.pack("<BBHI", 3, 0, 0, len(DONE)) + DONE
whole += struct.pack("<BBHI", 6, 0, 0, 0)
os.writev(4, [whole[place : place + 1] for place in range(len(whole))])
os._exit(0)
