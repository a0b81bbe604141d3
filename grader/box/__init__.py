"""All that travels into the sandbox. Nothing here knows an answer, a score or an exercise."""
