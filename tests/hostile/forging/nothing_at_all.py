"""Return None.

Expected: wrong
Stopped by: protocol
"""


def attend(q, k, v):
    return None
