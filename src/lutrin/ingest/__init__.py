"""From files to documents, chunks and a new generation of the index."""
