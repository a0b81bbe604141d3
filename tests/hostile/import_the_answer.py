"""Import the reference solution.

Expected: error ModuleNotFoundError
Stopped by: the zygote never loads it, and no file can be opened
"""

import reference.causal_attention
