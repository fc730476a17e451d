"""What is prepared of a book before anybody asks: its companion, and what pupils practise with."""
