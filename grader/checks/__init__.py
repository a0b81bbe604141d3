"""What is looked at: for each check, what to run and how to judge it, side by side."""
