"""Return not-a-numbers that carry a message in their bits.

Expected: wrong
Stopped by: judged elsewhere
Own: yes
"""

import torch


def attend(q, k, v):
    return torch.full((2, 3, 4), 0x7FF8_DEAD_BEEF_0042, dtype=torch.int64).view(torch.float64)
