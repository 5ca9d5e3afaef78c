"""Maps from columns to features."""
