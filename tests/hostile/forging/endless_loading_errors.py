"""Send small well-formed frames without end, to fill the grader's memory.

Expected: protocol
Stopped by: protocol
"""

import os
import struct

ERROR = b'{"stage": "load", "blame": "error", "type": "E", "message": "", "line": null, "bases": []}'
while True:
    os.write(4, struct.pack("<BHII", 5, 0, len(ERROR), 0) + ERROR)
