"""Abort the interpreter.

Expected: crashed
Stopped by: own fork
"""

import os

os.abort()
