"""Where mathematics meets data."""
