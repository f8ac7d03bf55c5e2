/*
 * cmd_view_run: opens captures as a timeline: in the terminal, or as one frame on stdout.
 */
#ifndef CUTLINE_CLI_CMD_VIEW_RUN_H
#define CUTLINE_CLI_CMD_VIEW_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "viewer/app/config.h"
#include "viewer/cli/opts.h"

enum {
    VIEW_COLOR_AUTO, /* indices of --color */
    VIEW_COLOR_NEVER
};

struct view_args {
    const char *at;
    int64_t span_ns;
    const char *filter;
    const char *state; /* rows, marks and what is selected */
    const char *script;
    const char *dump; /* NULL = use the terminal */
    const char *size;
    const char *keys;
    int color; /* index in the choices, -1 = not given */
    int theme; /* likewise */
    bool ask_theme; /* worked out: the terminal tells dark or light */
    bool ascii;
    bool no_mouse;
    bool no_cache;
    bool tour;
};

/* Shows the captures of rest (one or two). *signal_number: the signal that ended it, else 0. 0 or
 * -1.
 */
int view_open(const struct opts_rest *rest, const struct view_args *given, int *signal_number,
              struct err *err);
/* Adds a small file (under 1 MB) to out. 0 or -1. */
int view_read(const char *path, struct buf *out, struct err *err);
/* Reads the person's configuration file; no file is no error. 0 or -1. */
int view_config(struct config *config, struct err *err);

#endif
