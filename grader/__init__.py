"""An autograder for attention: it runs student PyTorch code in a sandbox and says what is wrong with it."""
