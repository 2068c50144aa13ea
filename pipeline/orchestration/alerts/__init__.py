"""Who is told when something breaks, and the state of a run; for DAG files only, since it imports Airflow."""
