"""The pages: what students and instructors see in a browser. Nothing else in the grader imports Gradio."""
