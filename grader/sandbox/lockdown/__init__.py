"""The walls around one submission, one mechanism a file; `walls` puts them up in order."""
