# SPDX-License-Identifier: Apache-2.0
"""Changes copies of the headers and of the list, and expects abi.py to name each change.

usage: abi_self_test.py CC [EMULATOR..]
"""
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# For each change: a header, the text to replace, its replacement, and a line of the expected report.
CHANGES = [
    ("patchfold.h", "PF_ERROR_LENGTH = 2,", "PF_ERROR_LENGTH = 30,", "gone, which breaks compiled programs: enumerator PF_ERROR_LENGTH = 2 "),
    ("patchfold.h", "  int32_t threads;\n  void* context;", "  void* context;\n  int32_t threads;",
     "gone, which breaks compiled programs: field pf_executor.threads: int32_t at 4"),
    ("patchfold.h", "PF_API int32_t pf_version(void);", "", "gone, which breaks compiled programs: function int32_t pf_version(void)"),
    ("patchfold.h", "uint32_t pf_dtype_size(pf_dtype dtype)", "int32_t pf_dtype_size(pf_dtype dtype)",
     "not in the list: function int32_t pf_dtype_size(pf_dtype)"),
    ("tiling.h", "typedef int32_t pf_tail;", "typedef uint32_t pf_tail;", "not in the list: type uint32_t pf_tail"),
    ("tiling.h", "  int32_t n_result;\n", "  int32_t n_result;\n  int64_t later;\n",
     "not in the list: field pf_tiling_spec.later: int64_t at 120"),
    ("tiling.h", "enum PF_INT32 {\n  PF_TAIL_SHIFT", "enum {\n  PF_TAIL_SHIFT", "abi: every list of enumerators begins with enum PF_INT32 {"),
    ("device.h", "void* stream, const void* src,", "uint64_t stream, const void* src,",
     "gone, which breaks compiled programs: function pf_status pf_plan_run_on(const pf_plan*, pf_device_kind, void*, "),
]


def main():
    cc, *emulator = sys.argv[1:]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        include = Path(folder) / "patchfold"
        include.mkdir()
        for name, old, new, line in [("patchfold.h", "", "", "abi: "), *CHANGES]:
            for header in ("patchfold.h", "pictures.h", "tiling.h", "device.h", "version.hpp", "export.hpp"):
                text = (ROOT / "include/patchfold" / header).read_text(encoding="utf-8")
                if header == name and old not in text:
                    failures += 1
                    print(f"{name} has no {old!r}")
                (include / header).write_text(text.replace(old, new, 1) if header == name else text, encoding="utf-8")
            done = subprocess.run([sys.executable, HERE / "abi.py", "--cc", cc, "--emulator", " ".join(emulator), "--include", folder],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.stdout.startswith("skipped"):
                print(done.stdout)
                return
            if (done.returncode == 0) != (old == new) or line not in done.stdout:
                failures += 1
                print(f"{old!r} -> {new!r}: expected {line!r}, got {done.returncode} and\n{done.stdout}")
    print(f"{len(CHANGES) + 1} headers, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
