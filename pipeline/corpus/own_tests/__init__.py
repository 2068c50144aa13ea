"""A library's own tests: each test function of each release, cut out of its suite into a program that stands alone."""
