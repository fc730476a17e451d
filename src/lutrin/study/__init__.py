"""What is prepared of a book beforehand, and what pupils practise with."""
