"""Studies of one decision each (follow-ups, poisoned passages, slips): `python -m evaluation.studies.NAME`."""
