/* term_info: see term_info.h. */
#include "viewer/term/term_info.h"

#include <ncurses.h>
#include <stddef.h>
#include <term.h>

int term_info(int fd)
{
    int found = 0;
    if (setupterm(NULL, fd, &found) != OK) {
        return -1;
    }
    return cursor_address != NULL ? 1 : 0;
}
