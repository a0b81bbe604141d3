"""Import the module by the function behind `import`.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""


def attend(q, k, v):
    return __import__("torch.nn.functional", fromlist=["x"]).scaled_dot_product_attention(q, k, v)
