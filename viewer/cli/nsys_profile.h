/*
 * nsys_profile: the options of `nsys profile` that `cutline record` takes and does not have itself,
 * so that command lines that were written for nsys run as they are. What they ask for beyond CUDA
 * and NVTX is named as not recorded.
 */
#ifndef CUTLINE_CLI_NSYS_PROFILE_H
#define CUTLINE_CLI_NSYS_PROFILE_H

#include "viewer/cli/opts.h"

/* For opts_spec.known. Names as in the versions 2020.1 to 2026.1 of nsys. */
extern const struct opts_known nsys_profile_options[];

/* What is said of an --export=FORMAT: NULL where the capture is that already. */
const char *nsys_profile_export(const char *format);

#endif
