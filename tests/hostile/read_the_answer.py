"""Read the reference solution from the disk.

Expected: error PermissionError
Stopped by: system call filter, Landlock
"""

import sys
from pathlib import Path

root = next(place for place in sys.path if "python" not in place)
print((Path(root) / "reference" / "causal_attention.py").read_text())
