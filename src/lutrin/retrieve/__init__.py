"""From a question to passages, and the decision whether the book speaks of it at all."""
