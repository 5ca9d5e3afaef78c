"""The final evaluation on sealed rows."""
