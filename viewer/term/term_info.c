/* term_info: see term_info.h. */
#include "viewer/term/term_info.h"

#include <ncurses.h>
#include <stddef.h>
#include <string.h>
#include <term.h>

int term_info(int fd)
{
    int found = 0;
    if (setupterm(NULL, fd, &found) != OK) {
        return -1;
    }
    return cursor_address != NULL ? 1 : 0;
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
        len = add(out, len, room, "\033[?1006l\033[?1000l");
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        len = add(out, len, room, tigetstr(names[i]));
    }
    /* Where there is no second screen to leave, the prompt comes on a line of its own. */
    return tigetstr("rmcup") == NULL ? add(out, len, room, "\r\n") : len;
}
