# verdict: loses shapes
import math


def softmax(x, dim=-1):
    values = x.flatten().tolist()
    top = max(values)
    e = [math.exp(v - top) for v in values]
    return [v / sum(e) for v in e]
