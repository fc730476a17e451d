"""Other pipelines on the same questions, books and models, judged by the same judge."""
