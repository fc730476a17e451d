"""One decision each: scope, follow-ups, selections, poisoned passages; `python -m evaluation.studies.NAME`."""
