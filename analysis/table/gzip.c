/*
 * gzip: one zlib stream with a gzip header, a fixed output block.
 */
#include "analysis/table/gzip.h"

#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST /* next_in is only read */
#include <zlib.h>

enum {
    BLOCK_BYTES = 65536,
    CHUNK_BYTES = 1 << 30, /* zlib counts input in unsigned int */
    LEVEL = 6,
    WINDOW_GZIP = 15 + 16, /* window of 32 KB, gzip header */
    MEMORY_LEVEL = 8,
};

struct gzip {
    z_stream stream;
    struct table_sink target;
    bool stopped; /* the target wants no more */
    unsigned char block[BLOCK_BYTES];
};

struct gzip *gzip_new(const struct table_sink *target, struct err *err)
{
    struct gzip *gzip = calloc(1, sizeof(*gzip));
    if (gzip == NULL || deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, WINDOW_GZIP, MEMORY_LEVEL,
                                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(gzip);
        err_nomem(err, "compression");
        return NULL;
    }
    gzip->target = *target;
    return gzip;
}

/* Packs what is in the stream's input. 0, or 1 once the target stopped or zlib failed. */
static int gzip_run(struct gzip *gzip, int flush)
{
    int rc = Z_OK;
    do {
        gzip->stream.next_out = gzip->block;
        gzip->stream.avail_out = BLOCK_BYTES;
        rc = deflate(&gzip->stream, flush);
        if (rc == Z_STREAM_ERROR) {
            gzip->stopped = true;
        }
        size_t len = BLOCK_BYTES - gzip->stream.avail_out;
        const char *data = (const char *)gzip->block;
        if (!gzip->stopped && len > 0 && gzip->target.write(gzip->target.arg, data, len) != 0) {
            gzip->stopped = true;
        }
    } while (!gzip->stopped && gzip->stream.avail_out == 0);
    return gzip->stopped ? 1 : 0;
}

static int gzip_write(void *arg, const char *data, size_t len)
{
    struct gzip *gzip = arg;
    while (len > 0 && !gzip->stopped) {
        size_t part = len < CHUNK_BYTES ? len : CHUNK_BYTES;
        gzip->stream.next_in = (const unsigned char *)data;
        gzip->stream.avail_in = (unsigned)part;
        (void)gzip_run(gzip, Z_NO_FLUSH);
        data += part;
        len -= part;
    }
    return gzip->stopped ? 1 : 0;
}

struct table_sink gzip_sink(struct gzip *gzip)
{
    return (struct table_sink){gzip_write, gzip};
}

int gzip_finish(struct gzip *gzip, struct err *err)
{
    gzip->stream.next_in = NULL;
    gzip->stream.avail_in = 0;
    if (gzip->stopped || gzip_run(gzip, Z_FINISH) != 0) {
        return err_set(err, "the compressed output could not be written");
    }
    return 0;
}

void gzip_free(struct gzip *gzip)
{
    if (gzip == NULL) {
        return;
    }
    (void)deflateEnd(&gzip->stream);
    free(gzip);
}

bool gzip_name(const char *name)
{
    size_t len = name != NULL ? strlen(name) : 0;
    return len > 3 && strcmp(name + len - 3, ".gz") == 0;
}
