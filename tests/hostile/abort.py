"""Abort the interpreter.

Expected: crashed
Stopped by: a process of its own
"""

import os

os.abort()
