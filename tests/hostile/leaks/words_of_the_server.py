"""Raise an error deep inside the box, so that its report shows the server's own files and lines.

Expected: error TypeError
Stopped by: catch-all
"""


def attend(q, k, v):
    return q.new_zeros("not a size")
