"""Tests of run.sh in a copy of scripts/ whose compiler, benchmark and model are stand-ins, so that
nothing is built or measured."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Refuses --bad, and measures until a signal where it is told --wait; it notes what it was asked.
BENCH = """#!/usr/bin/env bash
echo "$*" >> asked
[[ " $* " == *" --bad "* ]] && echo "roofline_bench: --bad: not expected" >&2 && exit 2
[[ " $* " == *" --dry-run "* ]] && echo "a list of cases" && exit 0
mkdir -p results/r
if [[ " $* " == *" --wait "* ]]; then
  saved() { echo saved $1 >> results/r/measurements.csv; echo "results: results/r" >&2; exit $1; }
  trap 'saved 129' HUP; trap 'saved 130' INT; trap 'saved 143' TERM
  echo $$ > waiting
  for _ in $(seq 1000); do sleep 0.02; done
fi
echo row > results/r/measurements.csv
echo "a table"
echo "results: results/r" >&2
"""
NOTES_ARGUMENTS = '#!/usr/bin/env bash\necho "$*" >> {}\n'
TOOLS = """bash cat dirname env flock grep head mkdir mktemp python3 readlink rm sed seq sleep sort
tail tee"""


def ends(pid: int) -> bool:
    """Whether the process is gone within 5 s, or dead and only not yet waited for."""
    for _ in range(250):
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return True
        if status.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False


class RunSh(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name) / "a repository"
        shutil.copytree(HERE, self.root / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        self.path = self.root / "bin"
        self.path.mkdir()
        for tool in TOOLS.split():
            found = shutil.which(tool)
            assert found, tool
            (self.path / tool).symlink_to(found)
        self.script("bin/cmake", NOTES_ARGUMENTS.format("configured"))
        self.script("bin/ninja", "#!/bin/sh\n")
        for preset in ("cpu", "gpu"):
            self.script(f"build/{preset}/roofline_bench", BENCH)
            self.script(f"build/{preset}/roofline", NOTES_ARGUMENTS.format("judged"))

    def script(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def start(
        self, *arguments: str, program: str = "", **environment: str
    ) -> subprocess.Popen[str]:
        inherited = {k: v for k, v in os.environ.items() if k not in ("SLURM_JOB_ID", "CUDACXX")}
        return subprocess.Popen(
            [program or str(self.root / "scripts/run.sh"), "--no-setup", *arguments],
            env={**inherited, "PATH": str(self.path), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
        )

    def run_sh(
        self, *arguments: str, program: str = "", **environment: str
    ) -> tuple[int, str, str]:
        process = self.start(*arguments, program=program, **environment)
        out, errors = process.communicate(timeout=60)
        return process.returncode, out, errors

    def waiting(self) -> int:
        """The process that says so in a file, within 10 s."""
        path = self.root / "waiting"
        for _ in range(500):
            if path.exists() and path.read_text():
                break
            time.sleep(0.02)
        pid = int(path.read_text())
        path.unlink()
        return pid

    def test_measures_judges_and_lists_the_files(self) -> None:
        code, out, errors = self.run_sh("--op=relu")
        self.assertEqual((code, out), (0, "a table\nresults/r/measurements.csv\n"))
        self.assertIn("results: results/r\n", errors)
        self.assertEqual((self.root / "asked").read_text(), "--op=relu\n")
        self.assertEqual((self.root / "judged").read_text(), "validate results/r\n")

    def test_a_signal_reaches_the_benchmark_and_no_child_is_left(self) -> None:
        for sent, expected in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)):
            with self.subTest(sent.name):
                process = self.start("--wait")
                bench = self.waiting()
                process.send_signal(sent)
                _, errors = process.communicate(timeout=10)
                self.assertEqual(process.returncode, expected)
                self.assertIn("results: results/r\n", errors)
                saved = self.root / "results/r/measurements.csv"
                self.assertEqual(saved.read_text(), f"saved {expected}\n")
                self.assertTrue(ends(bench))
                saved.unlink()

    def test_a_signal_between_two_steps_leaves_no_temporary_file(self) -> None:
        temporary = self.root / "temporary"
        temporary.mkdir()
        (self.path / "python3").unlink()  # a link to the real one
        self.script("bin/python3", "#!/usr/bin/env bash\necho $$ > waiting\nsleep 0.5\nexit 1\n")
        for sent, expected in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)):
            with self.subTest(sent.name):
                process = self.start(TMPDIR=str(temporary))
                self.waiting()  # for what looks for matplotlib
                process.send_signal(sent)
                process.communicate(timeout=10)
                self.assertEqual(process.returncode, expected)
                self.assertEqual(list(temporary.iterdir()), [])

    def test_a_signal_stops_the_build(self) -> None:
        self.script("bin/cmake", "#!/usr/bin/env bash\necho $$ > waiting\nsleep 30\n")
        process = self.start()
        compiler = self.waiting()
        process.terminate()
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, 143)
        self.assertTrue(ends(compiler))

    def test_finds_the_repository_through_a_symlink(self) -> None:
        link = self.root / "elsewhere"
        link.symlink_to(self.root / "scripts/run.sh")
        self.assertEqual(self.run_sh(program=str(link))[0], 0)

    def test_says_in_one_line_what_is_missing(self) -> None:
        for tool in ("flock", "cmake", "ninja"):
            with self.subTest(tool):
                (self.path / tool).rename(self.root / tool)
                code, _, errors = self.run_sh()
                self.assertEqual(code, 2)
                self.assertRegex(errors, rf"^run.sh: expected {tool} on PATH, found none: .*\n$")
                (self.root / tool).rename(self.path / tool)
        code, _, errors = self.run_sh(TMPDIR="/no/such")
        self.assertEqual(code, 2)
        self.assertRegex(errors, "^run.sh: expected a folder .* in TMPDIR, got /no/such: .*\n$")

    @unittest.skipIf(list(Path("/dev").glob("nvidia[0-9]*")), "this machine has a GPU")
    def test_a_login_node_is_told_how_to_measure_and_refuses_what_is_wrong(self) -> None:
        self.script("bin/srun", "#!/bin/sh\n")
        srun = "srun --gres=gpu:1 scripts/run.sh --no-setup"
        for arguments, expected, out, error in (
            (("--op=relu",), 3, "", f"{srun} '--op=relu'\n"),
            (("--bad",), 2, "", "roofline_bench: --bad: not expected\n"),
            (("--dry-run",), 0, "a list of cases\n", ""),
            (("--device=cpu",), 0, "a table\nresults/r/measurements.csv\n", "results: "),
            (("--device", "cpu"), 0, "a table\nresults/r/measurements.csv\n", "results: "),
        ):
            with self.subTest(arguments):
                code, said, errors = self.run_sh(*arguments)
                self.assertEqual((code, said), (expected, out))
                self.assertIn(error, errors)
                self.assertEqual("srun" in errors, expected == 3)
        code, _, errors = self.run_sh("--op=relu", SLURM_JOB_ID="1")
        self.assertEqual((code, "srun" in errors), (0, False))

    def test_builds_the_peer_that_takes_long_only_for_a_gpu(self) -> None:
        # A compiler that is new enough for the gpu preset.
        self.script("nvcc", "#!/bin/sh\necho 'release 13.0, V13.0.1'\n")
        for arguments, builds in (
            (("--impl=all",), True),
            (("--impl", "cub"), True),
            ((), False),
            (("--impl=all", "--device=cpu"), False),
            (("--device", "cpu", "--impl=all"), False),
        ):
            with self.subTest(arguments):
                self.run_sh(*arguments, CUDACXX=str(self.root / "nvcc"))
                configured = self.root / "configured"
                self.assertEqual("ROOFLINE_CUB" in configured.read_text(), builds)
                configured.unlink()


if __name__ == "__main__":
    unittest.main()
