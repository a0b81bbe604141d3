"""From observations to a report: checks run in order, points are added up, the mistake is named."""
