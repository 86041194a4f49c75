"""Reads the machine code of the kernels and holds it against a budget; no GPU needed.

For each kernel, type, number of vectors in flight and cache hint (of one architecture): what the
steady loop issues for an element, whether it moves 16 bytes an access, hinted as its policies say,
with all loads before their first use, registers, local memory, and the bandwidth at which issuing
instructions, not memory, is the limit.

exit codes: 0 within budget, 1 over it, 2 wrong usage, 3 no cuobjdump or no such code
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

# What an SM of compute capability 9.0 does a clock, in thread instructions: 4 warps issue; MUFU has
# 16 lanes (CUDA C++ Programming Guide, throughput of native arithmetic instructions).
ISSUED_PER_CLOCK = 128
MUFU_PER_CLOCK = 16
SMS = 132  # of H100 SXM and H200 SXM alike
CLOCK_HZ = 1.755e9  # what they hold under load; their memory, by data sheet:
MEMORY_BYTES_PER_S = {"H100 SXM": 3.35e12, "H200 SXM": 4.8e12}
MAX_REGISTERS = 64  # 65536 for the 2 blocks of 512 threads that __launch_bounds__ promises

SIZES = {"fp32": 4, "fp16": 2, "bf16": 2, "fp8_e4m3": 1, "fp8_e5m2": 1, "bytes": 1}
TYPES = {
    "float": "fp32",
    "__half": "fp16",
    "__nv_bfloat16": "bf16",
    "__nv_fp8_e4m3": "fp8_e4m3",
    "__nv_fp8_e5m2": "fp8_e5m2",
}
CACHING = ["", "-loads-once", "-once"]  # of enum class Caching


@dataclass(frozen=True)
class Budget:
    """The most instructions for an element (a multiply-add of dot and gemv)."""

    op: str
    size: int  # bytes of an element
    total: float
    mufu: float = 0.0
    convert: float = 0.0


# At 93 % of an H200's 4.8 TB/s and 1.755 GHz an SM can issue 13.3 instructions for an element of
# one byte read and written, 26.6 for two bytes, 53 for four. Only erf in 16 bits needs more.
BUDGETS = [
    Budget("relu", 4, 13),
    Budget("relu", 2, 6),
    Budget("relu", 1, 3),
    Budget("gelu", 4, 13, mufu=2),
    Budget("gelu", 2, 12, mufu=2, convert=1.5),
    Budget("gelu", 1, 7, mufu=1, convert=1),
    Budget("gelu_erf", 4, 30, mufu=1),
    Budget("gelu_erf", 2, 30, mufu=1, convert=1.5),
    Budget("gelu_erf", 1, 7, mufu=1, convert=1),
    Budget("copy", 1, 1.5),
    Budget("read", 1, 1.5),
    Budget("write", 4, 5),
    Budget("write", 2, 3, convert=0.25),
    Budget("write", 1, 1.5, convert=0.25),
    Budget("triad", 4, 8),
    Budget("triad", 2, 8, convert=2.5),
    Budget("triad", 1, 7, convert=3.5),
    Budget("dot", 4, 7),
    Budget("dot", 2, 7, convert=2),
    Budget("dot", 1, 5.5, convert=3),
    Budget("gemv", 4, 5),
    Budget("gemv", 2, 6, convert=2),
    Budget("gemv", 1, 4, convert=2.25),
]


@dataclass(frozen=True)
class Instruction:
    address: int
    opcode: str  # "LDG.E.128"
    operands: str

    @property
    def name(self) -> str:
        return self.opcode.split(".")[0]

    @property
    def is_wide(self) -> bool:
        return ".128" in self.opcode

    @property
    def streams(self) -> bool:
        """A load, past the L1, or a store of what is moved once."""
        return self.opcode.startswith(("LDG.E.NA", "STG.E.EF"))

    @property
    def converts(self) -> bool:
        """Between floating-point formats; bf16 becomes fp32 by a shift, which does not count."""
        return self.name in ("F2F", "F2FP", "F2I", "I2F") or self.opcode.startswith("HADD2.F32")


@dataclass(frozen=True)
class Function:
    name: str  # demangled
    registers: int
    instructions: list[Instruction]

    @property
    def local_accesses(self) -> int:
        return sum(i.name in ("LDL", "STL") for i in self.instructions)


@dataclass(frozen=True)
class Kernel:
    op: str
    dtype: str
    vectors: int
    caching: str  # what the names of its policies end in
    inputs: int  # arrays read from memory: not the x of a gemv
    outputs: int  # arrays written
    function: Function

    @property
    def label(self) -> str:
        return f"{self.op} {self.dtype}, {self.vectors}{self.caching} vectors"


@dataclass(frozen=True)
class Row:
    """What the steady loop of a kernel does for an element."""

    kernel: Kernel
    loads: int
    loads_before_use: int
    narrow: int  # accesses of less than 16 bytes
    unhinted: int  # accesses that lack the hint of its caching
    local: int  # of the whole kernel
    total: float
    mufu: float
    convert: float

    def bytes_per_s(self) -> float:
        """Where the SMs could not issue more, or the MUFUs do no more."""
        k = self.kernel
        clocks = max(self.total / ISSUED_PER_CLOCK, self.mufu / MUFU_PER_CLOCK)
        return SMS * CLOCK_HZ * (k.inputs + k.outputs) * SIZES[k.dtype] / clocks


# ---- reading -------------------------------------------------------------------------------------


def parse_functions(sass: str, usage: str) -> list[Function]:
    """Of `cuobjdump -sass` and `cuobjdump -res-usage`, both with names demangled."""
    registers = {
        name: int(count) for name, count in re.findall(r"Function (.+):\s+REG:(\d+)", usage)
    }
    functions = []
    for part in re.split(r"\n\s*Function : ", sass)[1:]:
        name, code = part.split("\n", 1)
        found = re.findall(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*) ?([^;]*);", code)
        instructions = [Instruction(int(a, 16), o, rest.strip()) for a, o, rest in found]
        functions.append(Function(name, registers[name], instructions))
    return functions


def kernel_of(function: Function) -> Kernel | None:
    """None for kernels that measure no bandwidth: fill, empty, fma, mma, a second step."""
    match = re.match(r"void kernels::(elementwise|dot|gemv|read)_kernel<(.*)>\(", function.name)
    if not match:
        return None
    family, arguments = match.groups()
    form = re.search(r"(\d+)(?:, \(kernels::Caching\)(\d))?$", arguments)
    assert form, function.name
    vectors, caching = int(form[1]), CACHING[int(form[2] or 0)]
    found = re.search("|".join(TYPES), arguments)
    dtype = TYPES[found[0]] if found else "bytes"
    if family != "elementwise":
        inputs = 2 if family == "dot" else 1
        return Kernel(family, dtype, vectors, caching, inputs, 0, function)
    functor = re.findall(r"\w+", arguments)[1]  # kernels::Relu<...>
    op = "gelu_erf" if functor == "GeluErf" else functor.lower()
    inputs = {"write": 0, "triad": 2}.get(op, 1)
    return None if op == "fma" else Kernel(op, dtype, vectors, caching, inputs, 1, function)


# ---- the steady loop -----------------------------------------------------------------------------


def steady_loop(instructions: list[Instruction]) -> list[Instruction]:
    """The loop with the most 16-byte accesses, without the loops inside it: a whole tile, not the
    ragged last one."""
    ends: dict[int, int] = {}
    last = max(n for n, i in enumerate(instructions) if i.name == "EXIT")
    for i in instructions[:last]:  # behind it: what diverged warps jump to, and back
        target = re.search(r"0x([0-9a-f]+)$", i.operands) if i.name == "BRA" else None
        if target and int(target[1], 16) < i.address:
            start = int(target[1], 16)
            ends[start] = max(ends.get(start, 0), i.address)

    def own(start: int, end: int) -> list[Instruction]:
        inner = [
            (s, e) for s, e in ends.items() if start <= s <= e <= end and (s, e) != (start, end)
        ]
        return [
            i
            for i in instructions
            if start <= i.address <= end and not any(s <= i.address <= e for s, e in inner)
        ]

    bodies = [own(start, end) for start, end in ends.items()]
    return max(bodies, key=lambda body: (sum(i.is_wide for i in body), len(body)), default=[])


def loads_before_use(body: list[Instruction], loads: list[Instruction]) -> int:
    """How many of `loads` are issued when the first instruction reads what one of them brings."""
    pending: set[str] = set()
    issued = 0
    for i in body:
        destination, _, sources = i.operands.partition(",")
        if pending & set(re.findall(r"\bR\d+", i.operands if i.name == "STG" else sources)):
            break
        if i in loads:
            issued += 1
            first = int(destination.strip()[1:])
            pending |= {f"R{first + k}" for k in range(4)}
    return issued


def measure(kernel: Kernel) -> Row:
    body = steady_loop(kernel.function.instructions)
    everything = [i for i in body if i.name == "LDG"]
    loads = [i for i in everything if i.streams] or everything  # not gemv's x, which is in a cache
    stores = [i for i in body if i.name == "STG"]
    lanes = 16 // SIZES[kernel.dtype]
    elements = (len(loads) / kernel.inputs if kernel.inputs else len(stores)) * lanes
    elements = elements or float("nan")
    hinted = {"": [], "-loads-once": everything, "-once": everything + stores}[kernel.caching]
    return Row(
        kernel=kernel,
        loads=len(loads),
        loads_before_use=loads_before_use(body, loads),
        narrow=sum(not i.is_wide for i in loads + stores),
        unhinted=sum(not i.streams for i in hinted),
        local=kernel.function.local_accesses,
        total=len(body) / elements,
        mufu=sum(i.name == "MUFU" for i in body) / elements,
        convert=sum(i.converts for i in body) / elements,
    )


# ---- judging, printing ---------------------------------------------------------------------------


def faults(row: Row) -> list[str]:
    """What breaks a rule or the budget, with its numbers."""
    k = row.kernel
    found = []
    if k.function.registers > MAX_REGISTERS:
        found.append(f"{k.function.registers} registers, more than {MAX_REGISTERS}")
    if row.local:
        found.append(f"{row.local} accesses of local memory")
    if row.narrow:
        found.append(f"{row.narrow} accesses of less than 16 bytes in the loop")
    if row.unhinted:
        found.append(f"{row.unhinted} accesses in the loop without the hint of {k.caching}")
    if row.loads_before_use < row.loads:
        found.append(f"{row.loads_before_use} of {row.loads} loads before their first use")
    budgets = [b for b in BUDGETS if (b.op, b.size) == (k.op, SIZES[k.dtype])]
    if not budgets:
        found.append("no budget")
    for budget in budgets:
        for what in ("total", "mufu", "convert"):
            spent, allowed = getattr(row, what), getattr(budget, what)
            if not spent <= allowed:
                found.append(f"{what} {spent:.2f} an element, budget {allowed:g}")
    return found


def measured(functions: Sequence[Function]) -> list[Row]:
    """A row of each kernel that measures bandwidth, in the order of the budgets."""
    order = [*dict.fromkeys(b.op for b in BUDGETS)]
    kernels = [k for f in functions if (k := kernel_of(f))]
    kernels.sort(
        key=lambda k: (
            [*order, k.op].index(k.op),
            [*SIZES].index(k.dtype),
            k.vectors,
            CACHING.index(k.caching),
        )
    )
    return [measure(k) for k in kernels]


def problems(functions: Sequence[Function]) -> list[str]:
    """All faults; of the other kernels, of which some are peaks, that they spill."""
    found = [f"{row.kernel.label}: {fault}" for row in measured(functions) for fault in faults(row)]
    for f in functions:
        if not kernel_of(f) and f.local_accesses:
            found.append(f"{f.name}: {f.local_accesses} accesses of local memory")
    return found


def unspent(rows: Sequence[Row]) -> list[str]:
    """Budgets without a kernel: one whose name kernel_of() no longer knows would pass unread."""
    read = {(row.kernel.op, SIZES[row.kernel.dtype]) for row in rows}
    return [
        f"{b.op}, {b.size} bytes an element: a budget, but no kernel"
        for b in BUDGETS
        if (b.op, b.size) not in read
    ]


def table(rows: Sequence[Row]) -> str:
    header = ["op", "dtype", "vectors", "registers", "loads", "early", "total", "MUFU", "convert"]
    lines = [[*header, "TB/s", *MEMORY_BYTES_PER_S]]
    for r in rows:
        k = r.kernel
        limit = r.bytes_per_s()
        lines.append(
            [
                *(k.op, k.dtype, f"{k.vectors}{k.caching}", str(k.function.registers)),
                *(str(r.loads), str(r.loads_before_use)),
                *(f"{x:.2f}" for x in (r.total, r.mufu, r.convert)),
                f"{limit / 1e12:.1f}",
                *(f"{limit / memory:.1f} x" for memory in MEMORY_BYTES_PER_S.values()),
            ]
        )
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(
        "  ".join(c.ljust(w) if i < 3 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths)))
        for line in lines
    )


def dump(cuobjdump: str, flag: str, arch: str, library: str) -> str:
    command = [cuobjdump, "-arch", arch, flag, library]
    mangled = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
    return subprocess.run(
        ["c++filt"], input=mangled, stdout=subprocess.PIPE, check=True
    ).stdout.decode()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", help="libkernels_cuda.a of a build, an object or a cubin")
    parser.add_argument("--check", action="store_true", help="name what is over budget, exit 1")
    parser.add_argument("--arch", default="sm_90", help="whose code to read (default: sm_90)")
    parser.add_argument("--cuobjdump", default="cuobjdump", help="the program (default: on PATH)")
    arguments = parser.parse_args(argv)
    try:
        functions = parse_functions(
            *(
                dump(arguments.cuobjdump, flag, arguments.arch, arguments.library)
                for flag in ("-sass", "-res-usage")
            )
        )
    except OSError as error:
        print(f"sass_report: cannot run {error.filename}: scripts/setup.sh --tests installs it")
        return 3
    if not functions:
        print(f"sass_report: {arguments.library} has no kernels for {arguments.arch}")
        return 3
    rows = measured(functions)
    print(table(rows))
    found = problems(functions) + unspent(rows) if arguments.check else []
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
