"""Gradient descent: walk downhill on a curve."""

import torch


def gradient_descent(f, x0, learning_rate, num_steps):
    # f: a function from a tensor to a tensor; x0, learning_rate: floats; num_steps: an int
    raise NotImplementedError("write your answer here")
    # return a tensor of shape (num_steps + 1,)
