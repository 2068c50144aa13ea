"""Release checks: what is measured of a candidate, what is allowed, and what a person approves."""
