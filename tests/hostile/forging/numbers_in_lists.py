"""Return nested lists in the place of a tensor.

Expected: wrong
Stopped by: protocol
"""


def attend(q, k, v):
    return [[[0.0] * 4] * 3] * 2
