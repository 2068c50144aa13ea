"""What runs inside the sandbox: on Python 3.6 and newer, with no package, from sources that come through a pipe.

Modules here import each other relatively, and nothing else of this project; `harness` hands them over.
"""
