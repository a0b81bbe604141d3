"""Let the compiler's front end rewrite a function that calls it.

Group: attention
Expected: forbidden
Stopped by: traps, static look
Without traps: right
"""

import torch
import torch._dynamo
import torch.nn.functional as F


def attend(q, k, v):
    return torch._dynamo.optimize("eager")(lambda: F.scaled_dot_product_attention(q, k, v))()
