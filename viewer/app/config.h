/*
 * config: what a person chose for good: keys and looks, from a text file of "name = value" lines.
 *
 *     theme = light
 *     key gap-next = ] n
 *
 * Everything after # at the begin of a line is a comment. config_default prints the file with every
 * setting in it, commented out: it says what can be set and to what it is set without the file.
 */
#ifndef CUTLINE_APP_CONFIG_H
#define CUTLINE_APP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "viewer/app/actions.h"

struct config {
    struct keymap keymap;
    char theme[16]; /* "dark", ... */
    char color[16]; /* "auto", "never", "256", ... */
    bool ascii;
    bool mouse;
    uint32_t cache_mib; /* room for the cache folder; 0 = nothing is kept */
    uint32_t cache_events; /* captures of fewer are not kept */
    bool hide; /* what the filter leaves out is hidden, not dimmed */
};

void config_init(struct config *config);
/* Applies a file's text. 0; -1 at the first line that is wrong (err says which and why). */
int config_parse(struct config *config, const char *text, size_t len, struct err *err);
/* Adds the commented default file. */
void config_default(struct buf *out);

#endif
