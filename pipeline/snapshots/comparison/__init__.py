"""Two snapshots compared: tables, columns, errata and their reasons."""
