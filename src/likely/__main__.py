"""``python -m likely``: the command line, where no command ``likely`` is on the path."""

from likely.cli.main import main

if __name__ == "__main__":
    main()
