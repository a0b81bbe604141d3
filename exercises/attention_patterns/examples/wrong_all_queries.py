# verdict: loses numerics
import torch

def extract_attention(model, tokens):
    result = []
    handles = []
    def hook(module, inputs, outputs):
        result.append(outputs[-1].clone())
    for i in range(len(model.layers)):
        handles += [model.layers[i].attention.register_forward_hook(hook)]
    out = model(tokens)
    del out
    for handle in reversed(handles):
        handle.remove()
    return result

T_ = 1

def share_of(A, column):
    global T_
    T = T_ = A.shape[0]
    return sum(A[i, column(i)] for i in range(T)) / T

def name_of(A):
    candidates = {
        "previous": share_of(A, lambda i: i - 1),
        "next": share_of(A, lambda i: (i + 1) % T_),
        "self": share_of(A, lambda i: i),
        "first": share_of(A, lambda i: 0),
    }
    for name, share in candidates.items():
        if share >= 0.5:
            return name
    return "uniform"

def classify_heads(weights):
    return [name_of(A) for A in weights]
