"""What every room stands on: settings, logs, errors, rule files, vocabularies, and outside text made safe to show."""
