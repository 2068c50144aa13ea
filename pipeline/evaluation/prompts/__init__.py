"""Prompts: the rows of a snapshot in the words of a setting, by the templates of `curation_rules/prompts/`."""
