"""HTTP: answers, streams, limits, and the pages that readers see."""
