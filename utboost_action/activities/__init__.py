"""What a step of a workflow does, one module an activity: `main.py` makes the effects and chooses."""
