#!/usr/bin/env python3
"""--help, manual page, completion and parser name the same options, for all commands.

check_commands.py PROGRAM; the manual pages are in man/ of the current folder.
"""
import pathlib
import re
import subprocess
import sys

program = sys.argv[1]
failures = []


def run(*words, ok=True):
    result = subprocess.run([program, *words], capture_output=True, text=True, timeout=60,
                            stdin=subprocess.DEVNULL)
    if ok and (result.returncode != 0 or result.stderr):
        failures.append(f"{' '.join(words)}: status {result.returncode}, {result.stderr.strip()}")
    return result


def fail(where, what):
    failures.append(f"{where}: {what}")


def help_options(text):
    """Long names and letters in a --help text."""
    long_names, letters = set(), set()
    for line in text.splitlines():
        match = re.match(r"  (?:-(\w), |    )--([a-z0-9-]+)", line)
        if match:
            long_names.add(match.group(2))
            letters.update(match.group(1) or "")
    return long_names, letters


def man_options(text):
    long_names, letters = set(), set()
    for line in text.splitlines():
        if line.startswith(".It"):
            long_names.update(re.findall(r"Fl Fl ([a-z0-9-]+)", line))
            letters.update(re.findall(r"(?<!Fl )Fl (\w)\b(?! Fl)", line))
    return long_names, letters


def bash_options(script, name):
    part = script.split(f"$command == {name} ]]", 1)[1].split('words="', 1)[1].split('"', 1)[0]
    return {word[2:] for word in part.split()}


def zsh_options(script, name):
    part = script.split(f"\n    {name}) ", 1)[1].split(";;", 1)[0]
    return set(re.findall(r"--([a-z0-9-]+)=?-?[\[}]", part))


def fish_options(script, name):
    lines = [line for line in script.splitlines() if f"__fish_seen_subcommand_from {name}'" in line]
    return set(re.findall(r" -l ([a-z0-9-]+)", "\n".join(lines)))


overview = run("help").stdout
names = re.findall(r"^  ([a-z]+) +\S", overview.split("Commands:\n")[1].split("\n\n")[0], re.M)
scripts = {shell: run("completion", shell).stdout for shell in ("bash", "zsh", "fish")}
main_page = pathlib.Path("man/cutline.1").read_text()
short_commands = {"help", "completion"}

for name in names:
    text = run(name, "--help").stdout
    if text != run("help", name).stdout:
        fail(name, "'help NAME' and 'NAME --help' differ")
    if not text.endswith("\n") or text.endswith("\n\n"):
        fail(name, "--help does not end with one newline")
    for number, line in enumerate(text.split("\nExamples:")[0].splitlines(), 1):
        if len(line) > 79:
            fail(name, f"--help line {number} has {len(line)} columns")
    wanted, letters = help_options(text)
    if "help" not in wanted:
        fail(name, "--help is not in its help")
    for shell, find in (("bash", bash_options), ("zsh", zsh_options), ("fish", fish_options)):
        found = find(scripts[shell], name)
        if found != wanted:
            fail(name, f"{shell} completion and --help differ in {sorted(found ^ wanted)}")
    if not re.search(rf"^\.It Cm {name}\b", main_page, re.M):
        fail(name, "is not in man/cutline.1")
    page = pathlib.Path(f"man/cutline-{name}.1")
    if page.exists():
        found = man_options(page.read_text())
        for option in wanted - found[0]:
            fail(name, f"--{option} is not in {page}")
        for option in found[0] - wanted:
            fail(name, f"--{option} is in {page} and not in --help")
        if letters - found[1]:
            fail(name, f"letters {sorted(letters - found[1])} are not in {page}")
    elif name not in short_commands:
        fail(name, f"has no page {page}")
    for option in sorted(wanted - {"help"}):
        # The parser knows it: what it complains of is the second option, or the argument.
        words = run(name, f"--{option}=?", "--no-such-option", ok=False)
        if words.returncode != 2 or f"no option --{option}" in words.stderr:
            fail(name, f"--{option}: {words.stderr.strip() or words.returncode}")
    unknown = run(name, "--no-such-option", ok=False)
    if unknown.returncode != 2 or unknown.stderr.count("\n") != 1 or unknown.stdout:
        fail(name, f"an unknown option: status {unknown.returncode}, {unknown.stderr.strip()}")

for page in pathlib.Path("man").glob("*.[15]"):
    for other in re.findall(r"^\.Xr cutline-([a-z]+) 1", page.read_text(), re.M):
        if other in names and not pathlib.Path(f"man/cutline-{other}.1").exists():
            fail(page, f"refers to cutline-{other}(1), which is not there")

checked = subprocess.run([sys.executable, "man/options.py", "--check", program],
                         capture_output=True, text=True)
if checked.returncode != 0:
    failures.extend(checked.stdout.splitlines())

# What the README says to type exists.
readme = pathlib.Path("README.md").read_text()
dev = pathlib.Path("dev").read_text()
for block in re.findall(r"^(?:```.*?\n(.*?)^```|((?:^    .*\n)+))", readme, re.M | re.S):
    for line in "".join(block).splitlines():
        match = re.match(r"\s*(?:\$ )?(?:build/release/)?cutline ([a-z]+)\b(?![./])", line)
        if match and match.group(1) not in names:
            fail("README.md", f"no command '{match.group(1)}'")
        if match and match.group(1) in names:
            known = help_options(run("help", match.group(1)).stdout)[0]
            typed = line.split("#")[0].split(" -- ")[0]
            for option in re.findall(r"\s--([a-z0-9-]+)", typed):
                if option not in known:
                    fail("README.md", f"'{match.group(1)}' has no --{option}")
for command in re.findall(r"\./dev ([a-z]+)", readme):
    if f"cmd_{command}()" not in dev:
        fail("README.md", f"./dev has no '{command}'")

print("\n".join(failures) if failures else f"{len(names)} commands agree everywhere")
sys.exit(1 if failures else 0)
