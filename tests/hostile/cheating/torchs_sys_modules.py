"""Look a module up in the table of all modules, as torch refers to it.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    table = torch.sys.modules
    name = "_".join(("scaled", "dot", "product", "attention"))
    return vars(table["torch.nn." + "functional"])[name](q, k, v)
