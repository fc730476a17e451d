"""`python -m lutrin.cli`: the command line for other processes of Lutrin, without a script on the path."""

from lutrin.cli.main import main

main()
