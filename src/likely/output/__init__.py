"""Results as text, tables, pictures and progress."""
