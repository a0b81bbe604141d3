"""Take the function's source from where Python keeps the lines of tracebacks, and execute it.

Group: attention
Expected: error StopIteration
Stopped by: no source is kept, static look
Without traps: error StopIteration
"""

import linecache

import torch
import torch.nn.functional as F


def attend(q, k, v):
    lines = next(one[2] for name, one in linecache.cache.items() if name.endswith("nn/functional.py"))
    start = next(at for at, line in enumerate(lines) if line.startswith("def multi_head_attention_forward("))
    end = next(at for at, line in enumerate(lines) if at > start and line.startswith("def "))
    scope = dict(vars(F))
    exec("from __future__ import annotations\n" + "".join(lines[start:end]), scope)
    eye = torch.eye(4, dtype=q.dtype)
    q, k, v = (one.transpose(0, 1) for one in (q, k, v))
    answer = scope["multi_head_attention_forward"]
    return answer(q, k, v, 4, 1, torch.cat([eye] * 3), None, None, None, False, 0.0, eye, None)[0].transpose(0, 1)
