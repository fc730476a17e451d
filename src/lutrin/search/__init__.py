"""From a query to evidence: two searches, and a reader that scores every unit."""
