/* deliver: see deliver.h. */
#include "viewer/term/deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "viewer/paint/copied.h"

enum {
    NAMES = 1000,
    NAME_BYTES = 40
};

static int write_all(int fd, const struct buf *text)
{
    size_t at = 0;
    while (at < text->len) {
        ssize_t n = write(fd, text->data + at, text->len - at);
        if (n < 0 && errno != EINTR) {
            return -1;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* The name of copy number n: cutline-copy.txt, cutline-copy-2.txt, ...; cutline-1.svg, ... */
static void copy_name(enum app_take take, int n, char *name)
{
    if (take == TAKE_SVG) {
        (void)snprintf(name, NAME_BYTES, "cutline-%d.svg", n);
    } else if (n == 1) {
        (void)snprintf(name, NAME_BYTES, "cutline-copy.txt");
    } else {
        (void)snprintf(name, NAME_BYTES, "cutline-copy-%d.txt", n);
    }
}

/* Opens a new file under the first name that is free. What is there, be it an earlier copy, a link or
 * a pipe, is left alone: O_EXCL opens none of them. */
static int open_copy(enum app_take take, char *name)
{
    for (int n = 1; n < NAMES; n++) {
        copy_name(take, n, name);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }
    return -1;
}

/* Writes to the file that was named, which must be a new one. */
static void save_named(struct app *app, const struct buf *text)
{
    int fd = open(app->take_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 || write_all(fd, text) != 0) {
        app_fail(app, "%.180s: %s", app->take_name, strerror(errno));
    } else {
        app_say(app, "written: %.180s", app->take_name);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* Writes a copy and says so. */
static void save_copy(struct app *app, const struct buf *text)
{
    char name[NAME_BYTES];
    if (app->take_name[0] != '\0') {
        save_named(app, text);
        return;
    }
    bool copied = app->take != TAKE_SVG;
    int fd = open_copy(app->take, name);
    if (fd < 0 || write_all(fd, text) != 0) {
        app_fail(app, "%s%s: %s", copied ? "copied to the clipboard; " : "", name, strerror(errno));
    } else if (app->take == TAKE_COMMAND) {
        app_say(app, "copied (%s): %.200s", name, buf_text(text));
    } else {
        app_say(app, copied ? "copied to the clipboard and to %s" : "saved as %s", name);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

void hand_out(struct terminal *term, struct app *app, const struct frame_style *style)
{
    struct buf text = {0};
    struct buf clip = {0};
    struct err err = {0};
    if (taken_make(app, style, term_theme(term), &text, &err) != 0) {
        app_fail(app, "%s", err.text);
    } else {
        if (app->take != TAKE_SVG && app->take_name[0] == '\0') {
            taken_clipboard(&text, &clip);
            term_send(term, buf_text(&clip), clip.len);
        }
        save_copy(app, &text);
    }
    app->take = TAKE_NONE;
    app->take_name[0] = '\0';
    buf_free(&text);
    buf_free(&clip);
}
