"""Which APIs a program has to call, and which may stand in their place."""
