"""Change the inputs to zeros, for which zeros are the right answer.

Expected: wrong
Stopped by: judged elsewhere
"""


def attend(q, k, v):
    return v.zero_()
