"""A finished report as text or JSON."""
