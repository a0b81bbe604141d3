"""Ask for more memory than any machine has, at once.

Expected: error RuntimeError
Stopped by: limits
"""

import torch

torch.ones(1 << 40)
