#!/usr/bin/env python3
"""Keeps the layers and the form of the sources. Prints one line for each breach; status 1 if any.

check_layers.py [--notes]: with --notes also what is longer than wanted, which is no breach.
"""
import pathlib
import re
import subprocess
import sys

# Folder -> what its files may include from this project. The first match counts.
ANALYSIS = "base store import trace table facts filter timeline report export detect diff".split()


def edges():
    """Each folder of analysis may include itself and those before it; the others by name."""
    for number, folder in enumerate(ANALYSIS):
        below = [name for name in ANALYSIS[:number + 1]
                 if (folder, name) not in {("table", "store"), ("table", "trace"), ("facts", "table")}]
        yield rf"analysis/{folder}/", rf"analysis/({'|'.join(below)})/"
    model = rf"analysis/({'|'.join(ANALYSIS)})/"
    yield r"(analysis|viewer|capture)/(tests|bench|fuzz)/", r"(analysis|viewer|capture|testdata)/"
    yield r"viewer/rows/", rf"({model}|viewer/rows/)"
    yield r"viewer/app/", rf"({model}|viewer/(rows|app)/)"
    yield r"viewer/paint/", rf"({model}|viewer/(rows|app|paint)/)"
    yield r"viewer/term/", rf"({model}|viewer/(rows|app|paint|term)/)"
    yield r"viewer/cli/", rf"({model}|viewer/|capture/record/)"
    yield r"capture/inject/", r"capture/(spool|inject)/"
    yield r"capture/spool/", r"capture/spool/"
    yield r"capture/convert/", r"(analysis/(base|store)|capture/(spool|convert))/"
    yield r"capture/record/", r"(analysis/(base|store)|capture/(spool|convert|record))/"
    yield r"testdata/generate.c$", r"(analysis/base|testdata|viewer/cli/(opts|output|command)\.h)"
    yield r"testdata/", r"(analysis/(base|store)|testdata)/"


EDGES = list(edges())
TOP = re.compile(r"(analysis|capture|man|testdata|viewer|\.ci)/.|(CMakeLists\.txt|CMakePresets\.json|README\.md|"
                 r"CHANGELOG\.md|LICENSE|dev|\.clang-format|\.clang-tidy|\.gitignore)$")
PURE = re.compile(rf"^(analysis/({'|'.join(ANALYSIS)})|viewer/(rows|app|paint))/")
PRINTS = re.compile(r"\b(printf|vprintf|puts|putchar|perror|exit|_exit|_Exit|quick_exit|abort)\s*\(|"
                    r"\b(stdout|stderr)\b")
SQL = re.compile(r'"[^"]*\b(SELECT .* FROM|INSERT INTO|CREATE (TABLE|INDEX)|DELETE FROM|PRAGMA)\b')
# What only Linux has: it belongs to the recorder and the terminal, so that captures can be read elsewhere.
PORTABLE = re.compile(r"(analysis|viewer)/(?!term/)")
LINUX_ONLY = re.compile(r"\b(epoll_\w+|inotify_\w+|signalfd|eventfd|timerfd_\w+|memfd_create|prctl|syscall|gettid|"
                        r"unshare|setns|sendfile|splice|fallocate|sync_file_range|getrandom|qsort_r|secure_getenv|"
                        r"dl_iterate_phdr|pthread_\w+_np|sched_\w+affinity|mremap|accept4|pipe2|dup3|execvpe|"
                        r"strchrnul|memrchr|memmem|getauxval|sigtimedwait|sigwaitinfo|get_nprocs\w*|hypot)\s*\(|"
                        r"\bMAP_(POPULATE|NORESERVE|HUGETLB)\b|\bO_(TMPFILE|PATH)\b|"
                        r'include\s+<(linux/|sys/(prctl|syscall|epoll|inotify|signalfd|eventfd|sysinfo|auxv)\.h|link\.h)')
# Growing and sorting stand once, in analysis/base; the spool goes into the recorded program and stands alone.
ONLY_IN_BASE = re.compile(r"\b(realloc|reallocarray|qsort|qsort_r)\s*\(")
KEEPS_OWN = re.compile(r"analysis/base/|testdata/|capture/(spool|inject)/|.*/(tests|bench|fuzz)/")
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
FUNCTION_LINES, FILE_LINES = 80, 800
FUNCTION_WANTED, FILE_WANTED = 40, 400
LISTS = re.compile(r"capture/spool/cupti_names_|testdata/gen_kernels")  # one long table of facts
# Never wanted in a text: controls, what changes the direction of text, what takes no room.
BAD_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff]")
breaches, notes = [], []


def breach(path, line, text):
    breaches.append(f"{path}:{line}: {text}")


def without_comments(text):
    """The source with comments blanked out, strings and lines kept."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

    def blank(match):
        piece = match.group(0)
        return re.sub(r"[^\n]", " ", piece) if piece.startswith("/") else piece
    return pattern.sub(blank, text)


def without_strings(text):
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def check_includes(path, code):
    allowed = next((may for folder, may in EDGES if re.match(folder, path)), None)
    for number, line in enumerate(code.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
        if not match:
            continue
        kind, name = match.groups()
        if kind == '"':
            if not pathlib.Path(name).exists():
                breach(path, number, f"{name} is not there (write it from the top folder)")
            elif allowed is None or not re.match(allowed, name):
                breach(path, number, f"this layer must not include {name}")
        elif "curses" in name and not re.match(r"viewer/(term|tests)/", path):
            breach(path, number, "only viewer/term includes ncurses")
        elif name == "sqlite3.h" and not re.match(r"analysis/store/|.*/(tests|bench|fuzz)/", path):
            breach(path, number, "only analysis/store includes SQLite")


def check_calls(path, code):
    pure = PURE.match(path)
    tests = re.search(r"/(tests|bench|fuzz)/", path)
    for number, line in enumerate(code.splitlines(), 1):
        if PORTABLE.match(path) and not tests and LINUX_ONLY.search(without_strings(line)):
            breach(path, number, "what only Linux (or a new glibc) has is for capture and viewer/term")
        if pure and PRINTS.search(without_strings(line)):
            breach(path, number, "nothing in this layer prints or exits")
        if re.search(r"\bstore_(file_)?open\(", line) and not tests and \
                not re.match(r"analysis/(store|trace)/", path):
            breach(path, number, "a capture is opened once for a command: trace_store, not store_open")
        if not KEEPS_OWN.match(path) and ONLY_IN_BASE.search(without_strings(line)):
            breach(path, number, "arrays grow and are sorted by analysis/base/array.h and sort.h")
        if SQL.search(line) and not path.startswith("analysis/store/") and not tests:
            breach(path, number, "SQL outside analysis/store")


def check_sizes(path, lines):
    if LISTS.match(path):
        return
    if len(lines) > FILE_LINES:
        breach(path, 1, f"{len(lines)} lines, at most {FILE_LINES}")
    elif len(lines) > FILE_WANTED:
        notes.append(f"{path}: {len(lines)} lines, wanted {FILE_WANTED}")
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            length = number - start - 1
            if length > FUNCTION_LINES:
                breach(path, start, f"a function of {length} lines, at most {FUNCTION_LINES}")
            elif length > FUNCTION_WANTED:
                notes.append(f"{path}:{start}: a function of {length} lines, wanted {FUNCTION_WANTED}")
            start = None


def check_text(path, text):
    if text and not text.endswith("\n"):
        breach(path, text.count("\n") + 1, "no newline at the end")
    tabs_allowed = re.search(r"Makefile|\.(tsv|keys|screen)$", path)
    for number, line in enumerate(text.splitlines(), 1):
        if BAD_CHARACTERS.search(line):
            breach(path, number, "a control or invisible character")
        if line != line.rstrip() and not re.search(r"\.(screen|txt|md|sh)$", path):
            breach(path, number, "blanks at the end of the line")
        if "\t" in line and not tabs_allowed:
            breach(path, number, "a tab")
        if UNFINISHED.search(line):
            breach(path, number, "something unfinished")


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True,
                            capture_output=True, text=True).stdout.splitlines()
    count = 0
    for path in listed:
        file = pathlib.Path(path)
        if not TOP.match(path):
            breach(path, 1, "the top level is fixed: this file belongs in one of its folders")
        if path.startswith("testdata/fuzz/") or not file.is_file():
            continue
        try:
            text = file.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            breach(path, 1, f"not UTF-8 text (byte {error.start})")
            continue
        count += 1
        check_text(path, text)
        if path.endswith((".c", ".h")):
            code = without_comments(text)
            check_includes(path, code)
            check_calls(path, code)
            check_sizes(path, text.splitlines())
    for line in breaches + (notes if "--notes" in sys.argv else []):
        print(line)
    print(f"{count} files, {len(breaches)} breaches, {len(notes)} longer than wanted")
    return 1 if breaches else 0


sys.exit(main())
