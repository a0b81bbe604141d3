"""Call it as a method of the tensor.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""


def softmax(x):
    return x.softmax(-1)
