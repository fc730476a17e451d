"""`python -m lutrin.cli`: the command line where the script `lutrin` is not on the path."""

from lutrin.cli.main import main

main()
