#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Counts machine instructions of the same kernels written with several pipelines, and compares them.

usage: sass_count.py [--list KERNEL] CUOBJDUMP NAME=FILE.cubin...
       sass_count.py --self-test

The NAMEs stand from the one that must be shortest to the one that may be longest (layer2=..., layer1=..., cutlass=...).
Two counts are printed for each kernel:

  whole   all instructions of the kernel, but not the padding after the last one (NOPs, and the branch to itself)
  loops   the instructions of its steady-state loops: those that touch an mbarrier (SYNCS), when no wait has to wait

Loops are found in the control flow, not by their look: a back edge is a branch to an instruction that dominates it. A
branch that is taken because a phase check has failed is left out, and with it the retry loop behind it, wherever
the assembler has put that. --list prints one kernel of all NAMEs with the loop instructions marked.

Exits with 1 if a kernel is longer in one NAME than in a later one, by either count, or is missing in one.
"""
import re
import subprocess
import sys
from dataclasses import dataclass, field

kFunction = re.compile(r"^\s*Function : (\S+)")
kInstruction = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
kGuard = re.compile(r"^@(!?)(U?P\w+)\s+(.*)")
@dataclass
class Instruction:
    address: int
    text: str  # without the guard
    guard: str = ""  # such as P0 or !P0

    @property
    def guarded(self):
        return self.guard not in ("", "PT")

    @property
    def opcode(self):
        return self.text.split()[0]


@dataclass
class Kernel:
    name: str
    code: list = field(default_factory=list)  # of Instruction, in address order


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    listed = None
    if arguments[:1] == ["--list"]:
        listed, arguments = arguments[1], arguments[2:]
    if len(arguments) < 2 or not all("=" in argument for argument in arguments[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    variants = {}
    for argument in arguments[1:]:
        name, path = argument.split("=", 1)
        text = subprocess.run([arguments[0], "-sass", path], check=True, capture_output=True, text=True).stdout
        variants[name] = {kernel.name: kernel for kernel in parse(text)}
    if listed:
        return print_listing(listed, variants)
    return print_comparison(variants)


def print_comparison(variants):
    names = list(variants)
    kernels = sorted({kernel for variant in variants.values() for kernel in variant})
    print(f"{'kernel':<20}" + "".join(f"{name + ' whole':>18}{'loops':>7}" for name in names))
    complaints = []
    for kernel in kernels:
        counts = {}
        row = f"{kernel:<20}"
        for name in names:
            if kernel not in variants[name]:
                complaints.append(f"{kernel} is missing in {name}")
                row += f"{'-':>18}{'-':>7}"
                continue
            code = strip_padding(variants[name][kernel].code)
            counts[name] = {"whole": len(code), "loops": len(steady_loops(code))}
            row += f"{counts[name]['whole']:>18}{counts[name]['loops']:>7}"
        print(row)
        complaints += compare(kernel, counts)
    for complaint in complaints:
        print(f"longer: {complaint}")
    print("FAIL" if complaints else f"PASS: {' <= '.join(names)} in {len(kernels)} kernels, whole and loops")
    return 1 if complaints or not kernels else 0


def compare(kernel, counts):
    names = list(counts)
    for shorter, longer in zip(names, names[1:]):
        for what in ("whole", "loops"):
            if counts[shorter][what] > counts[longer][what]:
                yield f"{kernel}, {what}: {shorter} {counts[shorter][what]}, {longer} {counts[longer][what]}"


def print_listing(kernel, variants):
    for name, kernels in variants.items():
        print(f"{name}: {kernel}")
        if kernel not in kernels:
            print("  not there")
            continue
        code = strip_padding(kernels[kernel].code)
        loops = steady_loops(code)
        for instruction in code:
            mark = "|" if instruction.address in loops else " "
            guard = "@" + instruction.guard if instruction.guard else ""
            print(f"  {mark} {instruction.address:04x} {guard:>4} {instruction.text}")
    return 0


def parse(text):
    """The kernels of cuobjdump's listing, under the bare names of their functions."""
    kernels = []
    for line in text.splitlines():
        function = kFunction.match(line)
        if function:
            kernels.append(Kernel(bare_name(function.group(1))))
            continue
        match = kInstruction.match(line)
        if match and kernels:
            guard = kGuard.match(match.group(2))
            body = guard.group(3) if guard else match.group(2)
            condition = guard.group(1) + guard.group(2) if guard else ""
            kernels[-1].code.append(Instruction(int(match.group(1), 16), body, condition))
    return kernels


def bare_name(mangled):
    """`copy_ring` of `_ZN10sass_bench9copy_ringINS_6Layer1EEEvPK4int4`: the innermost name before arguments."""
    if not mangled.startswith("_Z"):
        return mangled
    rest = mangled[3:] if mangled.startswith("_ZN") else mangled[2:]
    name = mangled
    while True:
        length = re.match(r"\d+", rest)
        if not length:
            return name
        start = length.end()
        name = rest[start : start + int(length.group())]
        rest = rest[start + int(length.group()) :]


def strip_padding(code):
    """Without what follows the last instruction that can run: NOPs, and the branch to itself that ends a kernel."""
    end = len(code)
    while end and (code[end - 1].opcode == "NOP" or branch_target(code[end - 1]) == code[end - 1].address):
        end -= 1
    return code[:end]


def branch_target(instruction):
    if not re.match(r"^(BRA|BSSY|BRX|JMP)\b", instruction.opcode):
        return None
    match = re.search(r"(?:\s|,|`\()0x([0-9a-f]+)\)?$", instruction.text)
    return int(match.group(1), 16) if match else None


def steady_loops(code):
    """The addresses of all instructions in natural loops that touch an mbarrier, if every phase check succeeds."""
    barriers = {instruction.address for instruction in code if instruction.opcode.startswith("SYNCS")}
    return set().union(*(body for body in natural_loops(code) if body & barriers))


def natural_loops(code):
    """The bodies, as sets of addresses, of the natural loops; loops that share a head are one."""
    successors = control_flow(code)
    order = reverse_postorder(code[0].address, successors)
    dominators = find_dominators(order, successors)
    predecessors = {address: [] for address in order}
    for address in order:
        for successor in successors[address]:
            predecessors[successor].append(address)
    loops = {}
    for address in order:
        for head in successors[address]:
            if head not in dominators[address]:
                continue
            body = loops.setdefault(head, {head})
            pending = [address]
            while pending:
                member = pending.pop()
                if member not in body:
                    body.add(member)
                    pending += predecessors[member]
    return list(loops.values())


def control_flow(code):
    """Successors of each reachable address. A BSYNC goes where the BSSY that reaches it says."""
    following = {a.address: b.address for a, b in zip(code, code[1:])}
    by_address = {instruction.address: instruction for instruction in code}
    successors = {instruction.address: set() for instruction in code}
    checks = phase_checks(code)
    seen = set()
    pending = [(code[0].address, ())]
    while pending:
        address, regions = pending.pop()
        if (address, regions) in seen or address not in by_address:
            continue
        seen.add((address, regions))
        instruction = by_address[address]
        targets, regions = step(instruction, following.get(address), dict(regions))
        if address in checks and len(targets) == 2:
            taken, through = targets
            targets = [through if instruction.guard.startswith("!") else taken]
        for target in targets:
            if target in by_address:
                successors[address].add(target)
                pending.append((target, tuple(sorted(regions.items()))))
    return successors


def phase_checks(code):
    """The addresses of branches whose condition is the answer of a phase check."""
    checks = set()
    for place, instruction in enumerate(code):
        if branch_target(instruction) is None or not instruction.guarded:
            continue
        predicate = instruction.guard.lstrip("!")
        for earlier in reversed(code[:place]):
            if writes_predicate(earlier, predicate):
                if earlier.opcode.startswith("SYNCS.PHASECHK"):
                    checks.add(instruction.address)
                break
    return checks


def writes_predicate(instruction, predicate):
    """Whether a predicate is among the results: one of the operands before the first that is no predicate."""
    operands = [operand.strip() for operand in instruction.text.partition(" ")[2].split(",")]
    for place, operand in enumerate(operands):
        if operand == predicate:
            return not instruction.opcode.startswith(("BRA", "SEL", "@"))
        # The result register of an addition with carry stands before its predicates.
        if not re.match(r"^U?P[T\d]", operand) and place > 0:
            return False
    return False


def step(instruction, following, regions):
    """Where control can go from here, and the convergence regions there (register to address)."""
    opcode = instruction.opcode.split(".")[0]
    through = [following] if following is not None else []
    target = branch_target(instruction)
    if opcode == "BSSY":
        regions[instruction.text.split()[1].rstrip(",")] = target
        return through, regions
    if opcode == "BSYNC":
        end = regions.pop(instruction.text.split()[1], following)
        return ([end] if end is not None else []) + (through if instruction.guarded else []), regions
    if opcode == "EXIT":
        return (through if instruction.guarded else []), regions
    if opcode in ("BRA", "JMP") and target is not None:
        # `BRA P1, 0x...`, `BRA.U UP0, 0x...` and `BRA.DIV UR4, 0x...` have their condition as an operand.
        conditional = instruction.guarded or "," in instruction.text
        return [target] + (through if conditional else []), regions
    return through, regions


def reverse_postorder(entry, successors):
    order, seen, stack = [], {entry}, [(entry, iter(sorted(successors[entry])))]
    while stack:
        address, rest = stack[-1]
        for successor in rest:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(sorted(successors[successor]))))
                break
        else:
            order.append(address)
            stack.pop()
    return order[::-1]


def find_dominators(order, successors):
    """For each address the set of addresses that every path from the entry passes."""
    predecessors = {address: set() for address in order}
    for address in order:
        for successor in successors[address]:
            predecessors[successor].add(address)
    every = set(order)
    dominators = {address: every for address in order}
    dominators[order[0]] = {order[0]}
    changed = True
    while changed:
        changed = False
        for address in order[1:]:
            new = set.intersection(*(dominators[p] for p in predecessors[address])) | {address}
            if new != dominators[address]:
                dominators[address], changed = new, True
    return dominators


def self_test():
    """A made-up kernel with a main loop, an out-of-line spin loop, an inner loop without barriers, and padding."""
    listing = """
        Function : _ZN10sass_bench9copy_ringINS_6Layer1EEEvPK4int4
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2+URZ], R3 ;
        /*0020*/              @!P0 BRA 0x90 ;
        /*0030*/                   LDS R4, [R5] ;
        /*0040*/                   SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R6], RZ ;
        /*0050*/               @P1 BRA 0x10 ;
        /*0060*/                   IADD3 R7, P0, R7, 0x1, RZ ;
        /*0070*/               @P2 BRA 0x60 ;
        /*0080*/                   EXIT ;
        /*0090*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2+URZ], R3 ;
        /*00a0*/              @!P0 BRA 0x90 ;
        /*00b0*/                   BRA 0x30 ;
        /*00c0*/                   BRA 0xc0;
        /*00d0*/                   NOP;
    """
    (kernel,) = parse(listing)
    code = strip_padding(kernel.code)
    loops = steady_loops(code)
    expected = {0x10, 0x20, 0x30, 0x40, 0x50}
    complaints = list(compare("k", {"a": {"whole": 3, "loops": 1}, "b": {"whole": 2, "loops": 1}}))
    checks = {
        "name": kernel.name == "copy_ring",
        "padding is not counted": len(code) == 12,
        "the loop is found with its wait; its retry and the loop without barriers are not": loops == expected,
        "a longer variant is reported": complaints == ["k, whole: a 3, b 2"],
        "an equal one is not": not list(compare("k", {"a": {"whole": 2, "loops": 1}, "b": {"whole": 2, "loops": 1}})),
    }
    for check, right in checks.items():
        print(f"{'ok' if right else 'WRONG'}: {check}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
