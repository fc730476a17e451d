"""From a query to evidence: candidates from two searches, and a reader that says which of their units answer."""
