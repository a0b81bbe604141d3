"""Say that all is done without having answered anything, hoping that nothing wrong is right.

Expected: unanswered
Stopped by: judged elsewhere
"""

import os
import struct

os.write(4, struct.pack("<BHII", 6, 0, 0, 0))
os._exit(0)
