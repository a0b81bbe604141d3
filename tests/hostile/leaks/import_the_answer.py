"""Import the reference solution.

Expected: error ModuleNotFoundError or error AttributeError
Stopped by: system call filter, Landlock, namespaces
"""

import reference.causal_attention

raise SystemExit(f"through: {reference.causal_attention.__file__}")
