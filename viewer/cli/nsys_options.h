/*
 * nsys_options: options of nsys that our commands take and do not have themselves, so that command
 * lines that were written for nsys run as they are. What is asked for and not given is named.
 */
#ifndef CUTLINE_CLI_NSYS_OPTIONS_H
#define CUTLINE_CLI_NSYS_OPTIONS_H

#include "viewer/cli/opts.h"

/* For opts_spec.known. Names as in the versions 2020.1 to 2026.1 of nsys. */
extern const struct opts_known nsys_profile_options[];
extern const struct opts_known nsys_stats_options[]; /* of stats and analyze */

/* For opts_spec.known_asked of stats and analyze: says it on stderr. 0. */
int nsys_say_unread(void *args, const struct opts_known *known, struct err *err);

/* What is said of an --export=FORMAT: NULL where the capture is that already. */
const char *nsys_profile_export(const char *format);

#endif
