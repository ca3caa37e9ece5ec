# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Builds a program with edits, each in a folder of its own. An include folder in which something is edited is mirrored
there: real folders on the way to the edited file, links for all else, so that headers that include each other by relative
paths find it. Only PTX is compiled. A program is kept until something that it is made of changes."""
import hashlib
import shutil
import subprocess
from pathlib import Path

from table import StaleEdit

kCutlassFolders = ("cutlass", "cute")


class Builder:
    def __init__(self, root, cutlass, nvcc, folder):
        self.root, self.cutlass, self.nvcc, self.folder = Path(root), Path(cutlass).resolve() if cutlass else None, nvcc, Path(folder)

    def can_build(self, program):
        return self.cutlass is not None or "cutlass" not in program.include

    def stale_edits(self, program):
        """What is wrong with the program's edits, a sentence each."""
        wrong = []
        texts = {edit.file: self.original(edit.file, edit.file).read_text()
                 for edit in program.cuts + [mutant.edit for mutant in program.mutants]}
        for edit, where, stays in [*((cut, "cut", True) for cut in program.cuts),
                                   *((mutant.edit, mutant.name, False) for mutant in program.mutants)]:
            try:
                edited = edit.applied(texts[edit.file], f"{program.name}/{where}")
                if stays:
                    texts[edit.file] = edited
            except StaleEdit as error:
                wrong.append(str(error))
        return wrong

    def built(self, program, mutant):
        """The program file; `mutant` None is the right one. None where it does not compile, with words printed."""
        name = mutant.name if mutant else "right"
        edits = program.cuts + ([mutant.edit] if mutant else [])
        home = self.folder / program.name / name
        stamp, target = home / "stamp", home / "program"
        state = self.state(program, edits)
        if target.exists() and stamp.exists() and stamp.read_text() == state:
            return target
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        self.lay_out(program, edits, home)
        result = subprocess.run(self.command(program, home, target), cwd=home, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            print(f"{program.name}/{name} does not compile:\n" + result.stderr[-2000:], flush=True)
            return None
        stamp.write_text(state)
        return target

    def state(self, program, edits):
        """A digest of all that the program is made of. CUTLASS's headers and the compiler are taken as constant."""
        digest = hashlib.sha256(repr((program.sources, program.include, program.std, program.flags)).encode())
        folders = set(program.tree + [folder for folder in program.include if folder != "cutlass"])
        files = [self.root / source for source in program.sources]
        for folder in sorted(folders):
            files += sorted(path for path in (self.root / folder).rglob("*") if path.is_file())
        for path in files:
            digest.update(path.read_bytes())
        for edit in edits:
            digest.update(repr((edit.file, edit.before, edit.after)).encode())
        return digest.hexdigest()

    def lay_out(self, program, edits, home):
        for folder in program.tree:
            shutil.copytree(self.root / folder, home / folder)
        for source in program.sources:
            (home / source).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.root / source, home / source)
        for edit in edits:
            copy = home / self.place(edit.file, edit.file)
            if not any((home / folder) in copy.parents for folder in program.tree):
                self.mirror(edit.file, home)
            edited = edit.applied(copy.read_text(), home.name)
            copy.unlink(missing_ok=True)
            copy.write_text(edited)

    def mirror(self, file, home):
        """Makes the folders on the way to the file, filled with links to what the original ones hold."""
        parts = Path(file).parts
        for depth in range(0 if self.of_cutlass(file) else 1, len(parts)):
            folder = "/".join(parts[:depth])
            original, copy = self.original(folder, file), home / self.place(folder, file)
            if copy.is_symlink():
                copy.unlink()
            copy.mkdir(parents=True, exist_ok=True)
            for entry in original.iterdir():
                if not (copy / entry.name).exists():
                    (copy / entry.name).symlink_to(entry.resolve())

    def original(self, path, file):
        """Where `path` lies, which belongs to the same include folder as `file`."""
        return (self.cutlass if self.of_cutlass(file) else self.root) / path

    def place(self, path, file):
        return Path("cutlass-include" if self.of_cutlass(file) else ".") / path

    def of_cutlass(self, file):
        return file.split("/")[0] in kCutlassFolders

    def command(self, program, home, target):
        path = []
        for folder in program.include:
            copy = home / ("cutlass-include" if folder == "cutlass" else folder)
            original = self.cutlass if folder == "cutlass" else self.root / folder
            path.append(f"-I{copy if copy.is_dir() else original}")
        stubs = Path(shutil.which(self.nvcc) or self.nvcc).resolve().parent.parent / "lib64" / "stubs"
        return [self.nvcc, f"-std=c++{program.std}", "-O2", "-lineinfo", "-w", "-cudart", "shared", "-gencode",
                "arch=compute_90a,code=compute_90a", *program.flags, *path, *(str(home / s) for s in program.sources),
                "-o", str(target), f"-L{stubs}", "-lcuda"]
