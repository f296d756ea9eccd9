"""Rules of the storage layer, one file a rule."""
