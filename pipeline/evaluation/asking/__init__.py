"""From a snapshot to a report: a model is asked for all answers of a setting, and scored."""
