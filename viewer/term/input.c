/* input: see input.h. */
#include "viewer/term/input.h"

#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <stddef.h>
#include <wchar.h>

void input_want_mouse(void)
{
    (void)mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED |
                        BUTTON4_PRESSED | BUTTON5_PRESSED,
                    NULL);
    (void)mouseinterval(0);
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
};

static bool read_mouse(struct key *key)
{
    static const struct {
        mmask_t bit;
        uint32_t code;
    } buttons[] = {
        {BUTTON4_PRESSED, KEYS_WHEEL_UP},
        {BUTTON5_PRESSED, KEYS_WHEEL_DOWN},
        {BUTTON1_DOUBLE_CLICKED, KEYS_DOUBLE_CLICK},
        {BUTTON1_CLICKED, KEYS_CLICK},
        {BUTTON1_PRESSED, KEYS_PRESS},
        {BUTTON1_RELEASED, KEYS_RELEASE},
    };
    MEVENT event;
    if (getmouse(&event) != OK) {
        return false;
    }
    for (size_t i = 0; i < sizeof buttons / sizeof buttons[0]; i++) {
        if ((event.bstate & buttons[i].bit) != 0) {
            *key = (struct key){buttons[i].code, event.x, event.y};
            return true;
        }
    }
    return false;
}

static bool special(wint_t code, struct key *key)
{
    if (code == KEY_MOUSE) {
        return read_mouse(key);
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
