"""Gradient descent: minimise a function of one variable."""

import torch


def gradient_descent(f, x0, learning_rate, num_steps):
    # f: maps a tensor to a tensor of the same shape; x0, learning_rate: floats; num_steps: an int
    raise NotImplementedError("write your code here")
    # return a tensor of shape (num_steps + 1,)
