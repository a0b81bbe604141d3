"""Match a pattern that takes exponential time, in C.

Expected: timeout
Stopped by: limits
"""

import re

re.match(r"(a+)+$", "a" * 60 + "b")
