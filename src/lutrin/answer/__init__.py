"""From evidence to an answer: excerpts first, then a model's checked sentences."""
