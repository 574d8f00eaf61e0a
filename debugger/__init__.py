"""The web debugger. Talks to graphs through one protocol (graphs/), never to their insides."""
