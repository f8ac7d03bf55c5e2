/* cmd_view_read: see cmd_view_read.h. */
#include "viewer/cli/cmd_view_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VIEW_STOP_MS = 200 /* so long a thread may take to end by itself */
};

struct view_ready {
    char *const *paths;
    struct app *apps[LOADER_FILES];
};

/* The usual ending only takes room. */
void view_title(const char *path, char *title, size_t room)
{
    static const char ending[] = ".sqlite";
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    size_t len = strlen(base);
    if (len > sizeof ending - 1 && strcmp(base + len - (sizeof ending - 1), ending) == 0) {
        len -= sizeof ending - 1;
    }
    (void)snprintf(title, room, "%.*s", (int)(len < room ? len : room - 1), base);
}

static int view_prepare(void *arg, int which, const struct trace *trace, struct err *err)
{
    struct view_ready *ready = arg;
    char title[APP_TITLE_BYTES];
    view_title(ready->paths[which], title, sizeof title);
    ready->apps[which] = app_open(trace, title, err);
    return ready->apps[which] == NULL ? -1 : 0;
}

int view_read_begin(struct view_reading *reading, const struct opts_rest *rest,
                    const struct trace_options *options, struct err *err)
{
    reading->ready = calloc(1, sizeof *reading->ready);
    if (reading->ready == NULL) {
        return err_nomem(err, "the timeline");
    }
    const struct loader_prepare prepare = {view_prepare, reading->ready};
    reading->ready->paths = rest->argv;
    reading->loader = loader_start(rest->argv, rest->argc, options, &prepare, err);
    if (reading->loader == NULL) {
        free(reading->ready);
        reading->ready = NULL;
        return -1;
    }
    return 0;
}

int view_read_end(struct view_reading *reading, struct trace *traces[LOADER_FILES],
                  struct app *apps[LOADER_FILES], struct err *err)
{
    int rc = loader_take(reading->loader, traces, err);
    for (int i = 0; i < LOADER_FILES; i++) {
        if (rc == 0) {
            apps[i] = reading->ready->apps[i];
        } else {
            app_close(reading->ready->apps[i]);
        }
    }
    free(reading->ready);
    *reading = (struct view_reading){0};
    return rc;
}

void view_read_leave(struct view_reading *reading)
{
    struct trace *traces[LOADER_FILES];
    struct app *apps[LOADER_FILES];
    if (reading->loader == NULL) {
        return;
    }
    loader_stop(reading->loader);
    if (loader_wait(reading->loader, VIEW_STOP_MS)) {
        (void)view_read_end(reading, traces, apps, NULL);
    }
}
