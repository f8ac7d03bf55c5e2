/* cmd_view_state: see cmd_view_state.h. */
#include "viewer/cli/cmd_view_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "viewer/app/state.h"
#include "viewer/cli/cmd_view_run.h"

enum {
    VIEW_PATH_BYTES = 1024
};

/* The file that keeps what was chosen for a capture: NAME-HASH in the folder for states. */
static bool view_state_path(const struct trace *trace, char *path, size_t room, bool make)
{
    const char *base = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    char folder[VIEW_PATH_BYTES / 2];
    char *real = NULL;
    uint32_t hash = 2166136261U;
    const char *at;
    int len;
    if (base != NULL && base[0] == '/') {
        len = snprintf(folder, sizeof folder, "%s/cutline", base);
    } else if (home != NULL && home[0] == '/') {
        len = snprintf(folder, sizeof folder, "%s/.local/state/cutline", home);
    } else {
        return false;
    }
    if (len < 0 || (size_t)len >= sizeof folder) {
        return false;
    }
    real = realpath(trace_given_path(trace), NULL);
    if (real == NULL) {
        return false;
    }
    if (make) {
        char *part = folder;
        while ((part = strchr(part + 1, '/')) != NULL) {
            *part = '\0';
            (void)mkdir(folder, 0700);
            *part = '/';
        }
        (void)mkdir(folder, 0700);
    }
    for (at = real; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 16777619U;
    }
    const char *slash = strrchr(real, '/');
    len = snprintf(path, room, "%s/%.100s-%08x", folder, slash != NULL ? slash + 1 : real,
                   (unsigned)hash);
    free(real);
    return len > 0 && (size_t)len < room;
}

void view_state_load(struct app *app)
{
    char path[VIEW_PATH_BYTES];
    struct buf text = {0};
    struct stat st;
    /* Only a file: nobody waits for a pipe here. */
    if (view_state_path(app->trace, path, sizeof path, false) && stat(path, &st) == 0 &&
        S_ISREG(st.st_mode) && view_read(path, &text, NULL) == 0) {
        state_read(app, buf_text(&text), text.len);
    }
    buf_free(&text);
}

/* Writes a new file and puts it in the place of the old one: a link there is not followed, and a full
 * disk keeps the old one. */
static void write_state(const char *path, const struct buf *text)
{
    char fresh[VIEW_PATH_BYTES];
    int len = snprintf(fresh, sizeof fresh, "%s.%ld", path, (long)getpid());
    if (len < 0 || (size_t)len >= sizeof fresh) {
        return;
    }
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file == NULL) {
        return;
    }
    bool whole = fwrite(buf_text(text), 1, text->len, file) == text->len;
    whole = fclose(file) == 0 && whole;
    if (!whole || rename(fresh, path) != 0) {
        (void)unlink(fresh);
    }
}

void view_state_save(const struct app *app, const struct buf *before)
{
    char path[VIEW_PATH_BYTES];
    struct buf text = {0};
    state_write(app, &text);
    if (!buf_failed(&text) && strcmp(buf_text(&text), buf_text(before)) != 0 &&
        view_state_path(app->trace, path, sizeof path, true)) {
        write_state(path, &text);
    }
    buf_free(&text);
}
