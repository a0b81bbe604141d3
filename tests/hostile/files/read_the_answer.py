"""Read the reference solution from the disk, beside the module that runs this file.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

import sys
from pathlib import Path

root = Path(sys._getframe(1).f_code.co_filename).parents[2]  # what runs this file is a module of the grader
raise SystemExit(f"through: {(root / 'reference' / 'causal_attention.py').read_text()[:40]!r}")
