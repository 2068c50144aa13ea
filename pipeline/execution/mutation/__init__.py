"""Mutation testing of references: changed programs that the tests of a row should notice."""
