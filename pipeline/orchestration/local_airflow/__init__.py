"""Airflow on one machine: its processes, its REST API, and how both get along with a database of one writer."""
