"""Compatibilities: in which releases of a library a program runs."""
