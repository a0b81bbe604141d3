"""Execute a text by the `exec` of the builtins that torch has imported.

Group: attention
Expected: forbidden
Stopped by: traps, static look, notices
"""

import torch


def attend(q, k, v):
    names = {"q": q, "k": k, "v": v, "torch": torch}
    torch.builtins.exec(
        "found = torch.nn.functional." + "_".join(("scaled", "dot", "product", "attention")) + "(q, k, v)", names
    )
    return names["found"]
