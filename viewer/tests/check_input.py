#!/usr/bin/env python3
"""What a terminal sends beside keys: pastes, the mouse, the colour of its background.

Run by test_view_input.sh with CUTLINE and CUTLINE_BUILD set, on a pseudo-terminal that this test
plays. It waits for what is shown, never for a time.
"""
import re
import sys

from check_signals import Timeline

ASKED = b"\x1b]11;?\x1b\\"
DARK_HEADER, LIGHT_HEADER = b"48;5;236", b"48;5;252"


def screen(line, after=0):
    """What was written since, without sequences."""
    return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x1b\x07]*(\x1b\\|\x07)|\x1b[()].", b"", line.seen[after:])


def until_shown(line, text, after=0):
    while text not in screen(line, after):
        assert line.process.poll() is None, (text, screen(line, after)[-400:])
        line.read()


def drawn(line):
    """The whole screen, drawn anew."""
    line.until_idle()
    mark = len(line.seen)
    line.type(b"\x0c")
    until_shown(line, b"GPU 1", mark)
    line.until_idle()
    return screen(line, mark)


def span(line):
    """How much time the header says is shown."""
    return re.search(rb"s \+([0-9.]+ [a-z]+)", drawn(line)).group(1)


def mouse(line, *events):
    """One after the other: ncurses may make one of those that come together."""
    for event in events:
        line.until_idle()
        line.type(event)
    line.until_idle()


def leave(line, what):
    line.type(b"q")
    assert line.end() == 0, what
    line.check_given_back(what)
    line.close()


def check_light_is_asked():
    """A terminal that tells of a light background gets light colours; its answer is no keys."""
    for answer in (b"rgb:ffff/ffff/ffff\x1b\\", b"rgb:fd/f6/e3\x07"):
        line = Timeline()
        line.until(ASKED)
        line.until(DARK_HEADER)
        line.type(b"\x1b]11;" + answer)
        line.until(LIGHT_HEADER)
        line.until_idle()
        assert b"does nothing" not in screen(line), answer
        leave(line, "light")


def check_dark_stays():
    """One that tells of a dark background, or tells nonsense, stays with dark colours."""
    for answer in (b"rgb:0000/2b2b/3636\x1b\\", b"none\x07", b"rgb:/\x07", b"rgb:ffff/ffff\x07", b"x" * 300 + b"\x07"):
        line = Timeline()
        line.until(DARK_HEADER)
        line.type(b"\x1b]11;" + answer)
        line.type(b"g")
        until_shown(line, b"Idle gaps in view")
        assert LIGHT_HEADER not in line.seen, answer
        line.type(b"\x1b")
        line.until_idle()
        leave(line, "dark")


def check_environment():
    """COLORFGBG is a first guess; --theme is the last word."""
    line = Timeline(env={"COLORFGBG": "0;15"})
    line.until(LIGHT_HEADER)
    line.until_idle()
    leave(line, "COLORFGBG")
    line = Timeline(env={"COLORFGBG": "0;15"}, args=("--theme=dark",))
    line.until(DARK_HEADER)
    line.until_idle()
    assert ASKED not in line.seen and LIGHT_HEADER not in line.seen
    leave(line, "--theme")


def check_paste():
    """A paste in the timeline does nothing; one in a prompt is its text, line ends left out."""
    line = Timeline()
    line.until(b" filter")
    line.type(b"\x1b[200~qqq\rXg\x1b[201~")
    until_shown(line, b"a paste does nothing here")
    line.type(b"f")
    until_shown(line, b"filter: ")
    line.type(b"\x1b[200~gemm\rq\x1b[201~")
    until_shown(line, b"gemmq")
    line.type(b"\x1b")
    line.until_idle()
    leave(line, "paste")


def check_mouse():
    """A drag measures, the wheel with Shift pans, two presses are a double click."""
    line = Timeline()
    line.until(b" filter")
    mouse(line, b"\x1b[<0;30;4M", b"\x1b[<32;40;4M", b"\x1b[<0;45;4m")
    assert b"A to B: " in drawn(line), "a drag measures nothing"
    line.type(b"M")
    line.until_idle()
    mark = len(line.seen)
    line.type(b"\x1b[<68;40;4M")
    line.until_idle()
    assert len(line.seen) > mark, "the wheel with Shift does nothing"
    before = span(line)
    mouse(line, b"\x1b[<0;40;4M", b"\x1b[<0;40;4m")
    assert span(line) == before, "a click zooms"
    mouse(line, b"\x1b[<0;45;4M", b"\x1b[<0;45;4m", b"\x1b[<0;45;4M")
    assert span(line) != before, "a double click does not zoom"
    leave(line, "mouse")


if __name__ == "__main__":
    for check in (check_light_is_asked, check_dark_stays, check_environment, check_paste, check_mouse):
        if len(sys.argv) > 1 and check.__name__ not in sys.argv[1:]:
            continue
        print(check.__doc__, flush=True)
        check()
