"""What the command line does with catalogs: building, inspecting, opening."""
