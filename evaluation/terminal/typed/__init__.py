"""What a person types: lines from a terminal or a pipe, commands, and the arguments that are asked for."""
