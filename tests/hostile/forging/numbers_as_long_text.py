"""Send a whole number of fifty thousand digits, which takes quadratic time to read.

Expected: protocol
Stopped by: protocol
Own: yes
"""

import os
import struct

text = b'{"stage": "load", "blame": "error", "type": "E", "message": "", "bases": [], "line": ' + b"9" * 50_000 + b"}"
os.write(4, struct.pack("<BHII", 5, 0, len(text), 0) + text)
os._exit(0)
