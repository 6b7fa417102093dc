"""Running one side of an instance in a sandbox: the protocol, Docker, local, and the scripts inside."""
