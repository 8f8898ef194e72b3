"""The command `bitwuzla`, which its wheel lacks: SMT-LIB from standard input, answers to standard output.

    bitwuzla --lang smt2 < problem.smt2

What yosys-smtbmc needs: a command is carried out as soon as it is whole. Any error ends it with a status that is
not zero, which smtbmc tells as an error of the proof, never as a pass.
"""

import re
import sys
from collections.abc import Iterable, Iterator

import bitwuzla

USAGE = "usage: bitwuzla [--lang smt2] < problem.smt2"
QUOTED = re.compile(r'\|[^|]*\||"[^"]*"|;.*')
LEVEL = re.compile(r"\((push|pop)\s+(\d+)\)")


def commands(lines: Iterable[str]) -> Iterator[str]:
    """Whole commands. A name or text in quotes does not go over lines in what smtbmc writes."""
    depth, held = 0, []
    for line in lines:
        held.append(line)
        bare = QUOTED.sub("", line)
        depth += bare.count("(") - bare.count(")")
        if depth == 0:
            yield "".join(held).strip()
            held = []
    if held:
        sys.exit(f"bitwuzla: the input ends inside of {held[0].strip()!r}")


def main() -> None:
    if "--help" in sys.argv:
        print(USAGE)
        return
    if sys.argv[1:] not in ([], ["--lang", "smt2"]):
        sys.exit(f"bitwuzla: {' '.join(sys.argv[1:])!r} is not known. {USAGE}")
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    for command in commands(sys.stdin):
        if command == "(exit)":
            return
        if level := LEVEL.fullmatch(command):
            # The parser counts levels for each of its inputs anew, and each command is an input of its own.
            getattr(parser.bitwuzla(), level[1])(int(level[2]))
        elif command:
            parser.parse(command, False, False)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
