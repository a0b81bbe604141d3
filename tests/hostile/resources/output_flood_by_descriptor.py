"""Write to the prints' descriptor directly and ignore every error.

Expected: output
Stopped by: clock
"""

import os

while True:
    try:
        os.write(1, b"x" * 65536)
    except OSError:
        pass
