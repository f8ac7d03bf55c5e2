/*
 * keys: what a person pressed, as a number with a name.
 *
 * A key is a Unicode code point, a control character, or one of enum keys_code. Its name is the
 * character itself or, in angle brackets, a word as vim writes it: "a", "<lt>", "<C-u>",
 * "<S-Left>", "<PageDown>", "<Click:12,3>". Scripts, the configuration and the help use these
 * names.
 */
#ifndef CUTLINE_APP_KEYS_H
#define CUTLINE_APP_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"

enum keys_code {
    KEYS_ENTER = 13,
    KEYS_TAB = 9,
    KEYS_ESCAPE = 27,
    KEYS_SPECIAL = 0x200000, /* above all code points */
    KEYS_BACKSPACE,
    KEYS_DELETE,
    KEYS_UP,
    KEYS_DOWN,
    KEYS_LEFT,
    KEYS_RIGHT,
    KEYS_HOME,
    KEYS_END,
    KEYS_PAGE_UP,
    KEYS_PAGE_DOWN,
    KEYS_BACK_TAB,
    KEYS_SHIFT_LEFT,
    KEYS_SHIFT_RIGHT,
    KEYS_SHIFT_UP,
    KEYS_SHIFT_DOWN,
    KEYS_F1,
    KEYS_F5,
    KEYS_CLICK, /* the mouse: x, y say where */
    KEYS_DOUBLE_CLICK,
    KEYS_PRESS, /* a drag begins */
    KEYS_DRAG, /* ... goes on */
    KEYS_RELEASE, /* ... and ends */
    KEYS_WHEEL_UP,
    KEYS_WHEEL_LEFT, /* the wheel with Shift */
    KEYS_WHEEL_RIGHT,
    KEYS_WHEEL_DOWN,
    KEYS_PASTE_BEGIN, /* what comes up to the end was not typed */
    KEYS_PASTE_END,
    KEYS_RESIZE, /* x, y: the new size in columns and rows */
};

enum {
    KEYS_NAME_BYTES = 32
};

struct key {
    uint32_t code;
    int x; /* mouse and resize */
    int y;
};

/*
 * Reads one key at *at (not past end) and moves *at behind it. 0; -1 for a word that names no key
 * (err names it).
 */
int keys_parse(const char **at, const char *end, struct key *key, struct err *err);
/* The key of a name without brackets ("a", "C-u", "PageDown", "<"); 0 where there is none. */
uint32_t keys_by_name(const char *name, size_t len);
/* The name of a key code, without brackets; out holds KEYS_NAME_BYTES. Returns out. */
char *keys_name(uint32_t code, char *out);

#endif
