"""Runs the demo: ``python -m studies.simple_model``, or ``./build.sh demo``."""

from .arguments import parse


def main() -> None:
    arguments = parse()  # first, since --help must not need what the demo imports
    from . import demo

    demo.main(arguments)


if __name__ == "__main__":
    main()
