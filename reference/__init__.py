"""The answers, each in small named steps; torch only."""
