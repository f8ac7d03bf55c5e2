/* term_info: see term_info.h. */
#include "viewer/term/term_info.h"

#include <ncurses.h>
#include <stddef.h>
#include <string.h>
#include <term.h>

enum term_info term_info(const char *name, int fd)
{
    char kind[64];
    int found = 0;
    if (strlen(name) >= sizeof kind) {
        return TERM_INFO_UNKNOWN;
    }
    memcpy(kind, name, strlen(name) + 1);
    if (setupterm(kind, fd, &found) != OK) {
        return TERM_INFO_UNKNOWN;
    }
    return cursor_address != NULL ? TERM_INFO_ABLE : TERM_INFO_UNABLE;
}

/* A capability, NULL where the terminal lacks it, without the delays "$<5/>" that old terminals ask for. */
static size_t add(char *out, size_t len, size_t room, const char *text)
{
    while (text != NULL && *text != '\0' && len < room) {
        const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;
        if (end != NULL) {
            text = end + 1;
        } else {
            out[len++] = *text++;
        }
    }
    return len;
}

size_t term_info_leave(char *out, size_t room)
{
    static char names[][6] = {"sgr0", "op", "cnorm", "rmkx", "rmcup"};
    size_t len = 0;
    if (tigetstr("kmous") != NULL) {
        len = add(out, len, room, "\033[?2004l\033[?1002l\033[?1006l\033[?1000l");
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        len = add(out, len, room, tigetstr(names[i]));
    }
    /* Where there is no second screen to leave, the prompt comes on a line of its own. */
    return tigetstr("rmcup") == NULL ? add(out, len, room, "\r\n") : len;
}
