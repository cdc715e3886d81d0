"""Array namespaces: what each array library is asked for, beyond the array standard's names."""
