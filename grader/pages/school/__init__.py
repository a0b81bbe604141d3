"""The pages of a class for those who teach or assist it."""
