"""Rules of the compaction layer, one file a rule."""
