"""Variables, factors and graphs; what is asked of them, and what is answered."""
