"""The job engine: hands every stored submission to a grading slot, whatever is killed and whenever."""
