"""What a person should look at: flags by rules, and what running says about an instance's tag."""
