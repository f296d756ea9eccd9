"""The case in hand, the symptom, the rules in order, findings and the verdict."""
