"""The batched decoder: one model context, many readers."""
