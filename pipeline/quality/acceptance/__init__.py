"""Acceptance: which rows may be published, with proof, licence and source."""
