"""From passages to an answer: quotes first, generated sentences only if the book supports them."""
