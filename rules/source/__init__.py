"""Rules of the source layer, one file a rule."""
