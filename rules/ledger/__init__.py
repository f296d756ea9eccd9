"""Rules of the ledger, which stands beside the layers, one file a rule."""
