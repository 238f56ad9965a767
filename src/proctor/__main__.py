"""`python -m proctor` is `proctor`."""

from proctor.cli.main import main

main()
