"""Rules of the branch layer, one file a rule."""
