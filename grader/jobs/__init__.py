"""The job engine: hands every stored submission to a grading worker, whatever is killed and whenever."""
