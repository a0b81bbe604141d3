"""Send a pickle, to have the grader execute it.

Expected: protocol
Stopped by: protocol
"""

import os
import struct
import pickle

os.write(4, pickle.dumps(struct.calcsize))
os._exit(0)
