"""Raise an exception whose text ends the process.

Expected: crashed or error Exits
Stopped by: the runner waits for the last frame
"""

import os


class Exits(Exception):
    def __str__(self):
        os._exit(0)


def attend(q, k, v):
    raise Exits
