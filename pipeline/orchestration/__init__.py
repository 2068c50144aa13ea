"""The refresh and the publishing flow, on Airflow or on one machine."""
