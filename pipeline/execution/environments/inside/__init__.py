"""Programs that run inside the sandbox, in the Python of an environment (3.6 and newer), with no package beside it.

Modules here import each other relatively, and nothing else of this project; `inspect` hands them over.
"""
