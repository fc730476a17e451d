"""From files to documents to chunks to a new generation of the index."""
