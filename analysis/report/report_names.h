/*
 * report_names: names that nsys has, or had, for reports and rules: old spellings stand for the
 * present ones, and what is elsewhere, or is not made here, gets a hint.
 */
#ifndef CUTLINE_REPORT_REPORT_NAMES_H
#define CUTLINE_REPORT_REPORT_NAMES_H

#include "analysis/base/buf.h"
#include "analysis/report/report.h"

/* The present name of an old one ("gpukernsum", "cuda-async-memcpy"); NULL where it is not one. */
const char *report_present_name(enum report_kind kind, const char *name);

/* The report of a name, old or present; NULL where there is none. */
const struct report *report_named(enum report_kind kind, const char *name);

/* Adds what to do about a name that there is not: the command that has it, a near name, or the
 * option that lists them. */
void report_add_hint(enum report_kind kind, const char *name, struct buf *out);

#endif
