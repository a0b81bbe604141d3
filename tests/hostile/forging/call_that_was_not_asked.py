"""Answer a call that is not in the plan.

Expected: protocol
Stopped by: protocol
Own: yes
"""

import os
import struct

os.write(4, struct.pack("<BBHIIB", 3, 0, 7, 5 + 192, 0, 0) + bytes(192))
os._exit(0)
