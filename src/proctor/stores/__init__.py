"""What is kept: runs, evaluations, responses, scores, events. The only place with SQL."""
