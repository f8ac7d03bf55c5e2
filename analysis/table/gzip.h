/*
 * gzip: a sink that compresses what is written to it (RFC 1952) and hands it on to another sink.
 *
 *     gzip_new(target) -> gzip_sink(gzip) is written to -> gzip_finish -> gzip_free
 */
#ifndef CUTLINE_TABLE_GZIP_H
#define CUTLINE_TABLE_GZIP_H

#include <stdbool.h>

#include "analysis/base/err.h"
#include "analysis/table/table.h"

struct gzip;

/* The target must outlive the gzip. NULL: no memory. */
struct gzip *gzip_new(const struct table_sink *target, struct err *err);
struct table_sink gzip_sink(struct gzip *gzip);
/* Writes the end of the stream. 0, or -1: the target stopped, or the data could not be packed. */
int gzip_finish(struct gzip *gzip, struct err *err);
void gzip_free(struct gzip *gzip);
/* Does a file name ask for it: does it end in ".gz"? */
bool gzip_name(const char *name);

#endif
