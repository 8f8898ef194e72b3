"""`make warp-proofs`: proves the leaves of Program Warping from their encoded rows and the program's eBPF bytes.

    .venv/bin/python tools/warp_proof.py [OBJECT ...]
    .venv/bin/python tools/warp_proof.py --json programs/xdp/mac_gate/mac_gate.o

For every frame of 1 to 65,535 bytes, every interface and every queue: if a rule is the first that matches, the program
takes the path of the rule's leaf, with no access out of bounds, and comes to the verdict, counts or lookup that the
leaf's row says. Of the rules that match the lowest one counts, so no two leaves have a frame in common; what none
matches is left to the program. Unknown, or out of time, is a failure. `sluice xdp warp --json` gives rows and paths; no
code of the optimizer is used.
"""

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from bitwuzla import Bitwuzla, Kind, Option, Options, Result, Term
from ebpf_terms import ARRAYS, LOOKUP, Insn, Machine, Sum, Terms, Wrong
from project import ROOT, fail
from warp_rows import Layouts
from warp_table import KEPT, KEY_WORDS, RULES, STACK_SET, STACK_WORDS, Table, seen

JOBS = 2
# Of a leaf. With --long the second.
SECONDS, LONG_SECONDS = 5.0, 600.0
# Instructions between a cut and the lookup that follows it.
FARTHEST = 2048
PLAIN, VERDICT, RESUME = 0, 1, 2
KEYED = ("hash", "lru_hash", "percpu_hash", "lru_percpu_hash", "lpm_trie")


class Prover:
    """A leaf's problem: the frames that it has, and what is claimed of them."""

    def __init__(self, terms: Terms, seconds: float) -> None:
        self.terms, self.seconds = terms, seconds

    def solver(self, terms: list[Term]) -> Bitwuzla:
        """With these asserted."""
        options = Options()
        options.set(Option.PRODUCE_MODELS, True)
        solver = Bitwuzla(self.terms.tm, options)
        end = time.monotonic() + self.seconds
        solver.configure_terminator(lambda: time.monotonic() > end)
        for term in terms:
            solver.assert_formula(term)
        return solver

    def number(self, solver: Bitwuzla, term: Term) -> int:
        """A term's value in the model that was found."""
        return int(solver.get_value(term).value(2), 2)

    def frame(self, solver: Bitwuzla) -> str:
        """The frame of a model, and where it came in."""
        length = self.number(solver, self.terms.named("length", 16))
        seen = [self.number(solver, self.terms.named(f"frame {at}", 8)) for at in range(min(length, 64))]
        port = self.number(solver, self.terms.named("ifindex", 32))
        return f"a frame of {length} bytes on interface {port} that begins with {bytes(seen).hex()}"


def prove(program: dict, maps: list[dict], layouts: Layouts, seconds: float) -> list[dict]:
    """Each leaf: what it is, and what is wrong with it, if anything is."""
    terms = Terms()
    prover = Prover(terms, seconds)
    insns = [Insn.of(text) for text in program["insns"]]
    found = []

    def told(name: int | str, kind: str, begin: float, wrong: str | None) -> None:
        found.append({"leaf": name, "kind": kind, "seconds": time.monotonic() - begin, "wrong": wrong})

    try:
        table = Table(terms, program["encoded"], layouts)
        rules = [table.matches(rule) for rule in range(RULES)]
        if not table.key["valid"]:
            raise Wrong("there is no table")
        if any(rule is not None for rule in rules[len(table.leaves) :]):
            raise Wrong("a rule without a leaf matches")
    except Wrong as wrong:
        told("table", "table", time.monotonic(), str(wrong))
        return found
    if len(program["leaves"]) != len(table.leaves):
        told("table", "table", time.monotonic(), "it has more leaves than paths, or fewer")
    before: list[Term] = []
    for at, (rule, row, leaf) in enumerate(zip(rules, table.leaves, program["leaves"], strict=False)):
        begin = time.monotonic()
        kind = {PLAIN: "plain", VERDICT: "verdict", RESUME: "resume"}.get(row["kind"], "unknown")
        try:
            if rule is None:
                raise Wrong("no key matches it")
            check_leaf(prover, table, (rule, before), row, leaf, (insns, maps))
            wrong = None
        except Wrong as e:
            wrong = str(e)
        told(at, kind, begin, wrong)
        if rule is not None:
            before.append(terms.no(rule))
    return found


def check_leaf(
    prover: Prover, table: Table, rules: tuple[Term, list[Term]], row: dict, leaf: dict, program: tuple
) -> None:
    """One leaf; raises what is wrong with it."""
    terms = prover.terms
    if row["kind"] != {"plain": PLAIN, "verdict": VERDICT, "resume": RESUME}[leaf["action"]["kind"]]:
        raise Wrong("its row is of another kind")
    if said_too_much(row):
        raise Wrong(f"its row says {', '.join(said_too_much(row))}, which its kind has not")
    if row["kind"] == PLAIN:
        return
    made = table.made(row) if row["kind"] == RESUME else {}
    frames = [rules[0], *rules[1], *table.assumed.values(), terms.op(Kind.DISTINCT, table.length, terms.number(0, 16))]
    witness = prover.solver(frames)
    answer = witness.check_sat()
    if answer != Result.SAT:
        raise Wrong("no frame comes to it" if answer == Result.UNSAT else "out of time for a frame of it")
    machine = Machine(terms, *program, lambda term: prover.number(witness, term))
    try:
        follow(machine, row, leaf["path"])
        if row["kind"] == VERDICT:
            verdict(machine, row, leaf)
        else:
            resume(machine, row, leaf, made)
    except Wrong as wrong:
        raise Wrong(f"{wrong}; {prover.frame(witness)}") from None
    # The steps may have asked for more bytes.
    frames = [*frames, *table.assumed.values(), *machine.assumed]
    solver = prover.solver([*frames, terms.no(terms.all([claim for claim, _ in machine.claims]))])
    answer = solver.check_sat()
    if answer == Result.SAT:
        false = [text for claim, text in machine.claims if not solver.get_value(claim).value()]
        raise Wrong(f"{false[0]}; {prover.frame(solver)}")
    if answer != Result.UNSAT:
        raise Wrong(f"out of time after {prover.seconds:.0f} s")


def said_too_much(row: dict) -> list[str]:
    """Fields that are not zero and have no meaning in a row of this kind. Work of a plain row counts its program."""
    of_lookup = ("map", "key_bytes") if row["looks_up"] else ()
    resume = ("start", "work", "step", "steps", "looks_up", *of_lookup)
    fields = {VERDICT: ("verdict", "work"), RESUME: resume}.get(row["kind"], ())
    numbers = {name: value for name, value in row.items() if name not in ("kind", "counts")}
    wrong = [name for name, value in numbers.items() if value and name not in fields]
    counts = {VERDICT: ("valid", "wide", "length", "number"), RESUME: ("valid", "address")}.get(row["kind"], ())
    for count in row["counts"]:
        wrong += [
            f"counts.{name}" for name, value in count.items() if value and not (count["valid"] and name in counts)
        ]
    return wrong


def follow(machine: Machine, row: dict, path: list) -> None:
    """A path, instruction by instruction."""
    for slot, taken in path:
        if machine.pc != slot:
            raise Wrong(f"its path goes to slot {slot}, the program to {machine.pc}")
        machine.step(taken)
    if machine.work != row["work"]:
        raise Wrong(f"its path goes back {machine.work} times, its row says {row['work']}")


def verdict(machine: Machine, row: dict, leaf: dict) -> None:
    """The program ends with the verdict, and has added what the row counts."""
    terms = machine.terms
    last = leaf["path"][-1][0] if leaf["path"] else 0
    if machine.insns[last].code != 0x95:
        raise Wrong(f"its path ends at slot {last}, which is no exit")
    if not 1 <= row["verdict"] <= 3:
        raise Wrong(f"its verdict is {row['verdict']}")
    found = terms.holds(0x1, 32, machine.register(0), row["verdict"])
    machine.claim(found, f"r0 is not {row['verdict']}")
    cells = [count["cell"] for count in leaf["action"]["counts"]]
    counts = [count for count in row["counts"] if count["valid"]]
    if len(cells) != len(counts) or counts != row["counts"][: len(counts)]:
        raise Wrong(f"it counts {len(counts)} times, not {len(cells)}")
    expected: dict[tuple[int, int], dict[int, object]] = {}
    for cell, count in zip(cells, counts, strict=True):
        key, size = (cell["map"], cell["index"]), 8 if count["wide"] else 4
        held = expected.setdefault(key, {})
        places = range(cell["offset"], cell["offset"] + size)
        old = terms.joined([held.get(at, machine.initial(key, at)) for at in places])
        new = terms.alu(0x0, 64, old, machine.length if count["length"] else count["number"])
        held |= dict(zip(places, terms.split(new, size), strict=True))
    for key in {*expected, *machine.elements}:
        after = machine.elements[key].bytes if key in machine.elements else {}
        wanted = expected.get(key, {})
        for at in sorted({*after, *wanted}):
            pair = [terms.joined([held.get(at, machine.initial(key, at))]) for held in (after, wanted)]
            machine.claim(terms.same(*pair), f"byte {at} of value {key[1]} of map {key[0]} is another after its counts")


def resume(machine: Machine, row: dict, leaf: dict, made: dict[int, Term]) -> None:
    """The program is at the cut, registers are those of the entry, and the lookup that comes next is the row's."""
    terms, action = machine.terms, leaf["action"]
    if machine.pc != leaf["cut"]:
        raise Wrong(f"its path ends at slot {machine.pc}, its cut is {leaf['cut']}")
    if row["start"] != action["row"]:
        raise Wrong(f"it starts at row {row['start']}, not {action['row']}")
    if any(element.bytes for element in machine.elements.values()):
        raise Wrong("it counts before it resumes")
    first, second = row["counts"]
    missed = first["address"] if first["valid"] else None
    if missed != action["missed"] or second["valid"] or (missed is not None and not row["looks_up"]):
        raise Wrong(f"it starts at row {missed} where the lookup finds nothing, not {action['missed']}")
    # Words of the stack have the number that their step has.
    entry = {register: said(terms, extract) for register, extract in action["entry"]["registers"]}
    for offset, extract in action["entry"]["stack"]:
        entry[STACK_WORDS + (offset + STACK_SET) // 8] = said(terms, extract)
    given = {target: term for target, term in made.items() if target < KEY_WORDS}
    if given.keys() != entry.keys() or any(target in KEPT for target in given):
        raise Wrong(f"it sets {sorted(given)}, its entry {sorted(entry)}")
    for target, term in given.items():
        what = f"r{target}" if target < STACK_WORDS else f"word {target - STACK_WORDS} of the stack"
        machine.claim(terms.same(Sum(term), entry[target]), f"{what} is not what its entry says")
    words = {target - KEY_WORDS: term for target, term in made.items() if target >= KEY_WORDS}
    lookup = action["entry"]["lookup"]
    if bool(row["looks_up"]) != (lookup is not None):
        raise Wrong("its row and its entry differ on a lookup")
    if not row["looks_up"]:
        if words:
            raise Wrong("it makes a key without a lookup")
        return
    lookup_is(machine, row, lookup, words)
    paths = leaf["answered"]
    if (paths is None) != (missed is None):
        raise Wrong("it has one code for what is found, and another one for what is not, without their paths")
    for name, path in (paths or {}).items():
        # The code of each begins with its own path, which goes on behind the lookup.
        if not path or path[0][0] != machine.pc or path[0][1] is not None:
            raise Wrong(f"the path where something is {name} does not begin at the lookup")
        follow(machine.answered(name == "found"), row, path[1:])


def lookup_is(machine: Machine, row: dict, lookup: dict, words: dict[int, Term]) -> None:
    """The first call behind the cut is the row's lookup, with the key that its steps make."""
    terms = machine.terms
    if row["map"] != lookup["map"]:
        raise Wrong(f"it looks up in map {row['map']}, its entry in {lookup['map']}")
    for _ in range(FARTHEST):
        insn = machine.insns[machine.pc]
        if insn.code == 0x85 and not (insn.imm == LOOKUP and array(machine)):
            break
        machine.step()
    if insn.code != 0x85 or insn.src or insn.imm != LOOKUP:
        raise Wrong(f"no lookup follows the cut, but slot {machine.pc}")
    spec = machine.maps[row["map"]]
    if machine.map_of(machine.register(1)) != row["map"]:
        raise Wrong(f"the program looks up in another map than {row['map']}")
    if spec["kind"] not in KEYED or spec["key_size"] != row["key_bytes"]:
        raise Wrong(f"map {row['map']} has other keys")
    count = row["key_bytes"]
    if any(word > (count - 1) // 8 for word in words):
        raise Wrong("it makes more words than the key has")
    for word in range(-(-count // 8)):
        held = min(8, count - 8 * word)
        key = machine.load(terms.alu(0x0, 64, machine.register(2), 8 * word), held)
        term = words.get(word)
        found = Sum(term) if term is not None else 0
        machine.claim(terms.same(found, key), f"word {word} of the key is another")


def array(machine: Machine) -> bool:
    """Whether r1 is an array."""
    return machine.maps[machine.map_of(machine.register(1))]["kind"] in ARRAYS


def said(terms: Terms, extract: dict) -> Sum:
    """What an entry says of a register: parts of the packet, and bits that are set."""
    total = terms.number(extract["constant"])
    for part in extract["parts"]:
        places = range(part["offset"], part["offset"] + part["bytes"])
        parts = [seen(terms, at) for at in (reversed(places) if part["swap"] else places)]
        number = terms.alu(0x7, 64, terms.joined(parts), part["down"])
        kept = terms.alu(0x5, 64, number, (1 << part["width"]) - 1)
        total = terms.op(Kind.BV_OR, total, terms.of(terms.alu(0x6, 64, kept, part["up"])))
    return Sum(total)


def of_object(sluice: str, path: Path, seconds: float) -> list[dict]:
    """The programs of an object, each with its leaves."""
    command = [sluice, "xdp", "warp", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return [{"object": str(path), "program": "-", "leaves": [], "wrong": done.stderr.strip() or "no JSON"}]
    layouts = Layouts()
    found = []
    for program in document["programs"]:
        one = {"object": str(path), "program": program["name"], "leaves": [], "wrong": None}
        if program["refused"]:
            one["wrong"] = f"refused: {program['refused']['what']}"
        else:
            one["leaves"] = prove(program, document["maps"], layouts, seconds)
        found.append(one)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Proves leaves of Program Warping from encoded rows and eBPF bytes.",
        epilog="example: tools/warp_proof.py programs/xdp/mac_gate/mac_gate.o",
    )
    parser.add_argument("objects", nargs="*", type=Path, help="objects; without any all of programs/xdp")
    parser.add_argument("--sluice", default=str(ROOT / "target/debug/sluice"), help="the command")
    parser.add_argument("--jobs", type=int, default=JOBS, help=f"objects at a time; {JOBS} without")
    parser.add_argument("--long", action="store_true", help=f"up to {LONG_SECONDS:.0f} s a leaf, not {SECONDS:.0f}")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of text")
    arguments = parser.parse_args()
    objects = arguments.objects or sorted((ROOT / "programs" / "xdp").glob("*/*.o"))
    if not Path(arguments.sluice).exists():
        fail(f"{arguments.sluice} is missing: cargo build -p sluice-cli")
    begin, done = time.monotonic(), []
    seconds = LONG_SECONDS if arguments.long else SECONDS
    with ProcessPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(of_object, arguments.sluice, path.resolve(), seconds) for path in objects]
        for number, job in enumerate(as_completed(jobs), 1):
            done += job.result()
            bar(number, len(jobs))
    sys.exit(
        report(sorted(done, key=lambda one: (one["object"], one["program"])), time.monotonic() - begin, arguments.json)
    )


def bar(number: int, of: int) -> None:
    """How far it is, where somebody looks."""
    if sys.stderr.isatty():
        filled = 40 * number // of
        print(
            f"\r[{'#' * filled}{'.' * (40 - filled)}] {number}/{of}", end="\n" if number == of else "", file=sys.stderr
        )


def report(programs: list[dict], took: float, as_json: bool) -> int:
    """What was proved; the exit status."""
    leaves = [(one, leaf) for one in programs for leaf in one["leaves"]]
    wrong = [(one, leaf) for one, leaf in leaves if leaf["wrong"]]
    failed = len(wrong) + sum(one["wrong"] is not None for one in programs)
    kinds = {kind: sum(leaf["kind"] == kind for _, leaf in leaves) for kind in ("verdict", "resume", "plain")}
    if as_json:
        print(json.dumps({"programs": programs, "seconds": took, "kinds": kinds, "failed": failed}, indent=1))
        return int(failed > 0)
    for one in programs:
        if one["wrong"]:
            print(f"{one['object']}: {one['program']}: {one['wrong']}")
    for one, leaf in wrong:
        print(f"{one['object']}: {one['program']}, leaf {leaf['leaf']} ({leaf['kind']}): {leaf['wrong']}")
    slowest = max(leaves, key=lambda pair: pair[1]["seconds"], default=None)
    if slowest:
        one, leaf = slowest
        print(f"slowest: {one['program']}, leaf {leaf['leaf']}: {leaf['seconds']:.2f} s")
    shown = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    print(f"{len(programs)} programs, {shown}; {took:.0f} s")
    print(f"warp: {len(leaves) - len(wrong)} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    main()
