"""Turn them into the layout of another library first.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""


def softmax(x):
    return x.float().to_mkldnn().softmax(-1).to_dense().double()
