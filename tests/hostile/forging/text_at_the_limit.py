"""Send an error whose text is as long as a frame may be.

Expected: error E
Stopped by: protocol
Own: yes
"""

import os
import struct

text = b'{"stage": "load", "blame": "error", "type": "E", "line": null, "bases": [], "message": "%s"}'
text = text % (b"x" * (65536 - len(text) + 2))
os.write(4, struct.pack("<BHII", 5, 0, len(text), 0) + text + struct.pack("<BHII", 6, 0, 0, 0))
os._exit(0)
