"""Claims about speed and memory, each with the file that measures it.  See RESULTS.md."""
