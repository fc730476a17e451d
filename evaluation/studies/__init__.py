"""One decision each: follow-ups, poisoned passages; `python -m evaluation.studies.NAME`."""
