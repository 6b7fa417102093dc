"""`python -m utboost_action`."""

from utboost_action.cli import main

main()
