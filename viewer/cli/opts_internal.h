/*
 * opts_internal: shared by opts.c (the walk over the words) and opts_read.c (the argument of each kind).
 * For these two files only.
 */
#ifndef CUTLINE_CLI_OPTS_INTERNAL_H
#define CUTLINE_CLI_OPTS_INTERNAL_H

#include "viewer/cli/opts.h"

/* Reads an argument into the variable of its option. 0, or -1 with err set. */
int opts_read(const struct opts_option *option, const char *value, void *args, struct err *err);

#endif
