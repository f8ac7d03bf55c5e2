/*
 * input: see input.h.
 *
 * ncurses is told what pastes and answers begin with, as if these were keys: so it tells them from a
 * lone Escape, also where their bytes come in pieces. Like ncurses, which has one terminal at a time,
 * this keeps what it knows of the terminal in static state.
 */
#include "viewer/term/input.h"

#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

enum {
    CODE_BACKGROUND = KEY_MAX + 1, /* numbers that no key of ncurses has */
    CODE_PASTE_BEGIN,
    CODE_PASTE_END,
    ANSWER_BYTES = 64,
    ANSWER_MS = 100, /* between two bytes of an answer, at most */
    DOUBLE_CLICK_MS = 500,
};

static enum input_background background;
/* The last press of the button, to tell a double click. */
static struct press {
    int64_t at_ms;
    int x;
    int y;
    bool down; /* still */
} press;

void input_begin(void)
{
    background = INPUT_BACKGROUND_UNKNOWN;
    press = (struct press){.at_ms = -DOUBLE_CLICK_MS};
    (void)define_key("\033]11;", CODE_BACKGROUND);
    (void)define_key("\033[200~", CODE_PASTE_BEGIN);
    (void)define_key("\033[201~", CODE_PASTE_END);
}

void input_want_mouse(void)
{
    (void)mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED |
                        BUTTON4_PRESSED | BUTTON5_PRESSED | BUTTON_SHIFT | REPORT_MOUSE_POSITION,
                    NULL);
    /* Double clicks are told here: ncurses would wait for the second one before it tells the first. */
    (void)mouseinterval(0);
}

enum input_background input_background(void)
{
    return background;
}

/* "rgb:RRRR/GGGG/BBBB", as a terminal answers. */
static enum input_background background_of(const char *text)
{
    static const int weights[3] = {299, 587, 114};
    double luma = 0;
    if (strncmp(text, "rgb:", 4) != 0) {
        return INPUT_BACKGROUND_UNKNOWN;
    }
    text += 4;
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        unsigned long value = strtoul(text, &end, 16);
        long digits = end - text;
        if (digits < 1 || digits > 4 || *end != (i < 2 ? '/' : '\0')) {
            return INPUT_BACKGROUND_UNKNOWN;
        }
        luma += weights[i] * (double)value / (double)((1UL << (4 * (unsigned)digits)) - 1UL);
        text = end + 1;
    }
    return luma > 500.0 ? INPUT_BACKGROUND_LIGHT : INPUT_BACKGROUND_DARK;
}

/* The rest of an answer, up to BEL or ESC and a backslash. */
static void read_answer(void)
{
    char text[ANSWER_BYTES];
    size_t len = 0;
    wint_t code = 0;
    wtimeout(stdscr, ANSWER_MS);
    while (get_wch(&code) == OK && code != 7 && code != 27 && code < 128) {
        if (len < sizeof text - 1) {
            text[len++] = (char)code;
        }
    }
    if (code == 27) {
        (void)get_wch(&code);
    }
    (void)nodelay(stdscr, TRUE);
    text[len] = '\0';
    background = background_of(text);
}

struct code {
    int from;
    uint32_t to;
};

static const struct code CODES[] = {
    {KEY_UP, KEYS_UP},
    {KEY_DOWN, KEYS_DOWN},
    {KEY_LEFT, KEYS_LEFT},
    {KEY_RIGHT, KEYS_RIGHT},
    {KEY_HOME, KEYS_HOME},
    {KEY_END, KEYS_END},
    {KEY_PPAGE, KEYS_PAGE_UP},
    {KEY_NPAGE, KEYS_PAGE_DOWN},
    {KEY_BACKSPACE, KEYS_BACKSPACE},
    {KEY_DC, KEYS_DELETE},
    {KEY_ENTER, KEYS_ENTER},
    {KEY_BTAB, KEYS_BACK_TAB},
    {KEY_SLEFT, KEYS_SHIFT_LEFT},
    {KEY_SRIGHT, KEYS_SHIFT_RIGHT},
    {KEY_SR, KEYS_SHIFT_UP},
    {KEY_SF, KEYS_SHIFT_DOWN},
    {KEY_F(1), KEYS_F1},
    {KEY_F(5), KEYS_F5},
    {CODE_PASTE_BEGIN, KEYS_PASTE_BEGIN},
    {CODE_PASTE_END, KEYS_PASTE_END},
};

static int64_t now_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A press, or a double click where the one before was here, a moment ago. */
static uint32_t press_kind(int x, int y)
{
    int64_t at_ms = now_ms();
    bool again = at_ms - press.at_ms < DOUBLE_CLICK_MS && press.x == x && press.y == y;
    press = (struct press){again ? at_ms - DOUBLE_CLICK_MS : at_ms, x, y, true};
    return again ? KEYS_DOUBLE_CLICK : KEYS_PRESS;
}

static bool read_mouse(struct key *key)
{
    MEVENT event;
    uint32_t code = 0;
    if (getmouse(&event) != OK) {
        return false;
    }
    bool shift = (event.bstate & BUTTON_SHIFT) != 0;
    if ((event.bstate & BUTTON4_PRESSED) != 0) {
        code = shift ? KEYS_WHEEL_LEFT : KEYS_WHEEL_UP;
    } else if ((event.bstate & BUTTON5_PRESSED) != 0) {
        code = shift ? KEYS_WHEEL_RIGHT : KEYS_WHEEL_DOWN;
    } else if ((event.bstate & BUTTON1_RELEASED) != 0) {
        code = KEYS_RELEASE;
        press.down = false;
    } else if ((event.bstate & REPORT_MOUSE_POSITION) != 0) {
        code = press.down ? KEYS_DRAG : 0;
    } else if ((event.bstate & BUTTON1_DOUBLE_CLICKED) != 0) {
        code = KEYS_DOUBLE_CLICK;
    } else if ((event.bstate & BUTTON1_CLICKED) != 0) {
        code = KEYS_CLICK;
    } else if ((event.bstate & BUTTON1_PRESSED) != 0) {
        code = press_kind(event.x, event.y);
    }
    *key = (struct key){code, event.x, event.y};
    return code != 0;
}

static bool special(wint_t code, struct key *key)
{
    if (code == KEY_MOUSE) {
        return read_mouse(key);
    }
    if (code == CODE_BACKGROUND) {
        read_answer();
        return false;
    }
    for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++) {
        if ((wint_t)CODES[i].from == code) {
            key->code = CODES[i].to;
            return true;
        }
    }
    return false;
}

bool input_read(struct key *key)
{
    wint_t code = 0;
    int kind;
    while ((kind = get_wch(&code)) != ERR) {
        *key = (struct key){0};
        if (kind == KEY_CODE_YES) {
            if (special(code, key)) {
                return true;
            }
            continue;
        }
        key->code = code == '\n' ? KEYS_ENTER : code == 127 ? KEYS_BACKSPACE : (uint32_t)code;
        if (key->code != 0) {
            return true;
        }
    }
    return false;
}
