"""Raise an exception whose text never comes.

Expected: timeout
Stopped by: limits
"""


class Endless(Exception):
    def __str__(self):
        while True:
            pass


def attend(q, k, v):
    raise Endless
