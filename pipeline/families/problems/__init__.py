"""Version-conditioned problems: functions to be written for one release of a library, with tests that prove them."""
