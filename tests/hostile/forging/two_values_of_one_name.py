"""Send an object that names its error twice, a mild one and a grave one: readers differ in which they take.

Expected: protocol
Stopped by: protocol
Own: yes
"""

import os
import struct

text = b'{"stage": "call", "stage": "load", "blame": "error", "blame": "none", "type": "E", "message": ""'
text += b', "line": 1, "bases": []}'
os.write(4, struct.pack("<BHII", 5, 0, len(text), 0) + text)
os._exit(0)
