"""Arrays that write down what is computed with them: what compiled programs are made of."""
