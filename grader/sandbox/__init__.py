"""Runs a stranger's code and brings back what was seen: the walls, the warm process behind them, and who watches."""
