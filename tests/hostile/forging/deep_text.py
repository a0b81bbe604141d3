"""Send JSON that is nested thirty thousand deep, to overflow the reader's stack.

Expected: protocol
Stopped by: protocol
Own: yes
"""

import os
import struct

text = b"[" * 30_000 + b"]" * 30_000
os.write(4, struct.pack("<BHII", 5, 0, len(text), 0) + text)
os._exit(0)
