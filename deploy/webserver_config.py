"""Sign-in: who may come in, and how. Flask-AppBuilder reads this; its documentation has OAuth, LDAP and the rest.

https://airflow.apache.org/docs/apache-airflow-providers-fab/stable/auth-manager/webserver-authentication.html
"""

from flask_appbuilder.const import AUTH_DB

# Users and passwords in Airflow's database: `airflow users create`. With a sign-in service of your own: AUTH_OAUTH or
# AUTH_LDAP, and what the service's part of the documentation above asks for.
AUTH_TYPE = AUTH_DB

# Nobody makes an account for themselves, and who has not signed in sees nothing.
AUTH_USER_REGISTRATION = False
AUTH_ROLE_PUBLIC = None

# A form of another site cannot act in a user's name.
WTF_CSRF_ENABLED = True
