"""Read the reference solution from the disk, beside the modules that were imported.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

import sys
from pathlib import Path

root = next(place for place in sys.path if (Path(place).name, "python" in place) != ("", True) and "lib" not in place)
raise SystemExit(f"through: {(Path(root) / 'reference' / 'causal_attention.py').read_text()[:40]!r}")
