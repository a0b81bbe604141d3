"""Raise an exception whose text ends the process.

Expected: crashed
Stopped by: protocol
"""

import os


class Exits(Exception):
    def __str__(self):
        os._exit(0)


def attend(q, k, v):
    raise Exits
