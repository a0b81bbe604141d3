"""Raise an exception whose text is 100 megabytes long.

Expected: error Huge or memory
Stopped by: protocol, limits
"""


class Huge(Exception):
    def __str__(self):
        return "x" * 100_000_000


def attend(q, k, v):
    raise Huge
