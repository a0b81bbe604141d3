"""Send an error whose text holds half of a character, which cannot be written to any file or page.

Expected: error E
Stopped by: protocol
Own: yes
"""

import os
import struct

text = b'{"stage": "load", "blame": "error", "type": "E", "message": "\\ud800", "line": null, "bases": []}'
os.write(4, struct.pack("<BHII", 5, 0, len(text), 0) + text + struct.pack("<BHII", 6, 0, 0, 0))
os._exit(0)
