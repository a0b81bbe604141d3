"""Send an error whose text holds half of a character, which cannot be written to any file or page.

Expected: error E
Stopped by: protocol
Own: yes
"""

import os
import struct

text = b'{"stage": "load", "blame": "error", "type": "E", "message": "\\ud800", "line": null}'
os.write(4, struct.pack("<BBHI", 5, 0, 0, len(text)) + text + struct.pack("<BBHI", 6, 0, 0, 0))
os._exit(0)
