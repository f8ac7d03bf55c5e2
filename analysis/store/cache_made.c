/* cache_made: see cache_made.h. */
#include "analysis/store/cache_made.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char PATH[] = "the path in the cache folder"; /* what there is no memory for */

/* Makes it under a temporary name, which takes the final one only when it is whole. */
static int make_whole(const struct cache_folder *folder, const char *name, cache_maker *make,
                      void *arg, struct err *err)
{
    struct cache_part part;
    struct buf target = {0};
    int status = 0;
    if (cache_folder_begin(folder, ".sqlite", &part) != 0) {
        status =
            err_set(err, "%s: cannot be written to: %s", buf_text(&folder->path), strerror(errno));
    }
    buf_addf(&target, "%s/%s", buf_text(&folder->path), buf_text(&part.name));
    if (status == 0) {
        status = buf_failed(&target) ? err_nomem(err, PATH) : make(arg, &part, &target, err);
    }
    if (status != 0) {
        cache_folder_drop(&part);
    } else if (cache_folder_finish(&part, name) != 0) {
        status = err_set(err, "%s/%s: cannot be written: %s", buf_text(&folder->path), name,
                         strerror(errno));
    }
    buf_free(&target);
    return status;
}

int cache_made(const struct cache_folder *folder, const struct buf *name, cache_maker *make,
               void *arg, struct buf *out, struct err *err)
{
    int status = 0;
    if (buf_failed(name)) {
        return err_nomem(err, PATH);
    }
    int fd = cache_folder_find(folder, buf_text(name));
    if (fd >= 0) {
        (void)close(fd);
    } else {
        status = make_whole(folder, buf_text(name), make, arg, err);
    }
    buf_reset(out);
    buf_addf(out, "%s/%s", buf_text(&folder->path), buf_text(name));
    return status == 0 && buf_failed(out) ? err_nomem(err, PATH) : status;
}
