"""Answer a call that is not in the plan.

Expected: protocol
Stopped by: protocol
Own: yes
"""

import os
import struct

TEXT = b'{"raised": null, "modified": [], "largest": null, "slots": ["float64"]}'
os.write(4, struct.pack("<BHII", 3, 7, len(TEXT), 192) + TEXT + bytes(192))
os._exit(0)
