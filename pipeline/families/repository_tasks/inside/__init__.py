"""What runs inside the sandbox when a project's tests are run; it must be readable by every Python from 3.6 on."""
