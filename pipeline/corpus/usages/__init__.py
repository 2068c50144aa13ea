"""Uses of a library's API in code, found with tree-sitter: imports, aliases, attribute chains, scopes."""
