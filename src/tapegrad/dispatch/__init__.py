"""What an operator is, and how a call of one is run and recorded."""
