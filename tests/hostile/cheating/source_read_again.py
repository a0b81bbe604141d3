"""Read the function's source where torch lies, and execute it.

Group: attention
Expected: error OSError
Stopped by: no file can be opened, static look
Without traps: error OSError
"""

import inspect

import torch
import torch.nn.functional as F


def attend(q, k, v):
    scope = dict(vars(F))
    exec(inspect.getsource(F.multi_head_attention_forward), scope)
    eye = torch.eye(4, dtype=q.dtype)
    q, k, v = (one.transpose(0, 1) for one in (q, k, v))
    answer = scope["multi_head_attention_forward"]
    return answer(q, k, v, 4, 1, torch.cat([eye] * 3), None, None, None, False, 0.0, eye, None)[0].transpose(0, 1)
