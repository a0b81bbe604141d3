"""Search all objects for a copy of the composed function.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import gc
import types

import torch


def attend(q, k, v):
    gc.unfreeze()
    name = "multi_head_attention_forward"
    answer = next(one for one in gc.get_objects() if type(one) is types.FunctionType and one.__name__ == name)
    eye = torch.eye(4, dtype=q.dtype)
    q, k, v = (one.transpose(0, 1) for one in (q, k, v))
    return answer(q, k, v, 4, 1, torch.cat([eye] * 3), None, None, None, False, 0.0, eye, None)[0].transpose(0, 1)
