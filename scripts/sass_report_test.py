"""Tests of sass_report.py on machine code of a few lines, in cuobjdump's words."""

from __future__ import annotations

import unittest

from sass_report import (
    BUDGETS,
    Function,
    Kernel,
    faults,
    kernel_of,
    measure,
    measured,
    parse_functions,
    problems,
    unspent,
)

NAME = (
    "void kernels::elementwise_kernel<kernels::Relu<float>, 2, (kernels::Caching)0>"
    "(void const*, long)"
)
ONCE = NAME.replace("Caching)0", "Caching)2")
# A ragged loop of one load inside the loop of whole tiles, as the kernels have it; behind EXIT what
# a diverged warp jumps to. 2 loads of 4 elements, 12 instructions.
CODE = """
        /*0000*/                   S2R R0, SR_TID.X ;     /* 0x00000a00ff017b82 */
        /*0010*/              @!P0 BRA 0x60 ;             /* 0x00000a00ff017b82 */
        /*0020*/                   LDG.E.128 R4, desc[UR6][R2.64] ;
        /*0030*/                   FMNMX R4, R4, RZ, !PT ;
        /*0040*/                   STG.E.128 desc[UR6][R2.64], R4 ;
        /*0050*/               @P1 BRA 0x20 ;
        /*0060*/                   LDG.E.128 R4, desc[UR6][R2.64] ;
        /*0070*/                   LDG.E.128 R8, desc[UR6][R2.64+0x10] ;
        /*0080*/                   FMNMX R4, R4, RZ, !PT ;
        /*0090*/                   MUFU.TANH R8, R11 ;
        /*00a0*/                   F2FP.BF16.F32.PACK_AB R8, R8, R9 ;
        /*00b0*/                   HADD2.F32 R9, -RZ, R9.H0_H0 ;
        /*00c0*/                   STG.E.128 desc[UR6][R2.64], R4 ;
        /*00d0*/                   STG.E.128 desc[UR6][R2.64], R8 ;
        /*00e0*/                   ISETP.GE.U32.AND P0, PT, R2, R3, PT ;
        /*00f0*/                   IADD3 R2, R2, 0x1, RZ ;
        /*0100*/              @!P0 BRA 0x10 ;
        /*0110*/                   EXIT ;
        /*0120*/                   BRA 0x30 ;
        /*0130*/                   BRA 0x130 ;
"""


def function(code: str = CODE, registers: int = 40, name: str = NAME) -> Function:
    return parse_functions(
        f"code for sm_90\n\t\tFunction : {name}\n{code}",
        f" Function {name}:\n  REG:{registers} STACK:0 SHARED:0 LOCAL:0\n",
    )[0]


def kernel(code: str = CODE, registers: int = 40, name: str = NAME) -> Kernel:
    found = kernel_of(function(code, registers, name))
    assert found
    return found


class SassReportTest(unittest.TestCase):
    def test_reads_the_name(self) -> None:
        k = kernel()
        self.assertEqual((k.op, k.dtype, k.vectors, k.inputs), ("relu", "fp32", 2, 1))
        self.assertEqual(k.function.registers, 40)

    def test_reads_the_form_off_any_name(self) -> None:
        rows = [
            (ONCE, ("relu fp32, 2-once vectors", 1)),
            (NAME.replace("Caching)0", "Caching)1"), ("relu fp32, 2-loads-once vectors", 1)),
            (
                "void kernels::dot_kernel<__half, 4, (kernels::Caching)2>(void const*)",
                ("dot fp16, 4-once vectors", 2),
            ),
            (
                "void kernels::read_kernel<8, (kernels::Caching)0>(void const*)",
                ("read bytes, 8 vectors", 1),
            ),
            (
                "void kernels::gemv_kernel<__nv_fp8_e4m3, 2>(void const*)",
                ("gemv fp8_e4m3, 2 vectors", 1),
            ),
        ]
        for name, expected in rows:
            with self.subTest(name):
                k = kernel(name=name)
                self.assertEqual((k.label, k.inputs), expected)

    def test_names_accesses_without_their_hint(self) -> None:
        loads = CODE.replace("LDG.E.128", "LDG.E.NA.128")
        both = loads.replace("STG.E.128", "STG.E.EF.128")
        usual, loads_once = NAME, NAME.replace("Caching)0", "Caching)1")
        rows = [
            ("usual", usual, CODE, 0),
            ("loads", loads_once, loads, 0),
            ("loads without", loads_once, CODE, 2),
            ("both", ONCE, both, 0),
            ("both, stores without", ONCE, loads, 2),
        ]
        for what, name, code, unhinted in rows:
            with self.subTest(what):
                row = measure(kernel(code, name=name))
                self.assertEqual(row.unhinted, unhinted)
                found = [fault for fault in faults(row) if "hint" in fault]
                self.assertEqual(bool(found), unhinted > 0)
        self.assertIn(
            "2 accesses in the loop without the hint of -once",
            faults(measure(kernel(loads, name=ONCE))),
        )

    def test_counts_a_whole_tile_for_an_element(self) -> None:
        row = measure(kernel())
        self.assertEqual((row.loads, row.loads_before_use), (2, 2))
        self.assertEqual((row.total, row.mufu, row.convert), (12 / 8, 1 / 8, 2 / 8))
        # 8 bytes an element, 128 instructions a clock, 132 SMs: 1.58e14 bytes/s
        self.assertAlmostEqual(row.bytes_per_s(), 132 * 1.755e9 * 8 * 128 / 1.5)

    def test_counts_only_what_streams_past_the_caches(self) -> None:
        cached = "/*0064*/ LDG.E.128 R12, desc[UR6][R14.64] ;\n/*0068*/ FADD R12, R12, R12 ;\n"
        streamed = CODE.replace("LDG.E.128", "LDG.E.NA.128")
        streamed = streamed.replace("/*0070*/", cached + "/*0070*/")
        row = measure(kernel(streamed))
        self.assertEqual((row.loads, row.loads_before_use), (2, 2))
        self.assertEqual(row.total, 14 / 8)

    def test_names_each_fault(self) -> None:
        rows = [
            ("within budget", CODE.replace("MUFU.TANH", "FADD").replace("F2FP", "X")
             .replace("HADD2.F32", "X"), 64, ""),
            ("registers", CODE, 65, "65 registers, more than 64"),
            ("local", CODE.replace("FMNMX R4", "LDL R4"), 40, "2 accesses of local memory"),
            ("narrow", CODE.replace("STG.E.128 desc[UR6][R2.64], R8", "STG.E desc[UR6][R2.64], R8"),
             40, "1 accesses of less than 16 bytes in the loop"),
            ("late", CODE.replace("[R2.64+0x10]", "[R5.64]"), 40,
             "1 of 2 loads before their first use"),
            ("mufu", CODE, 40, "mufu 0.12 an element, budget 0"),
            ("total", CODE.replace("/*00f0*/", "/*00e4*/ NOP ;\n" * 100 + "/*00f0*/"), 40,
             "total 14.00 an element, budget 13"),
        ]  # fmt: skip
        for name, code, registers, expected in rows:
            with self.subTest(name):
                found = faults(measure(kernel(code, registers)))
                if expected:
                    self.assertIn(expected, found)
                else:
                    self.assertEqual(found, [])

    def test_finds_what_spills_and_what_has_no_budget(self) -> None:
        mma = "void kernels::mma_kernel<__half>(float*)"
        spilled = CODE.replace("FMNMX R4", "STL R4")
        rows = [
            (
                "no budget",
                NAME.replace("Relu", "Square"),
                CODE,
                ["square fp32, 2 vectors: no budget"],
            ),
            ("a peak", mma, CODE, []),
            ("a peak that spills", mma, spilled, [f"{mma}: 2 accesses of local memory"]),
        ]
        for what, name, code, expected in rows:
            with self.subTest(what):
                self.assertEqual(problems([function(code, name=name)]), expected)

    def test_names_budgets_without_a_kernel(self) -> None:
        found = unspent(measured([function()]))  # relu fp32
        self.assertEqual(len(found), len(BUDGETS) - 1)
        self.assertIn("relu, 2 bytes an element: a budget, but no kernel", found)
        self.assertNotIn("relu, 4 bytes an element: a budget, but no kernel", found)


if __name__ == "__main__":
    unittest.main()
