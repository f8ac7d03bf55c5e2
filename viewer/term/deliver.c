/* deliver: see deliver.h. */
#include "viewer/term/deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "viewer/paint/copied.h"

enum {
    HAND_OUT_NAMES = 1000,
    HAND_OUT_NAME_BYTES = 40
};

static int hand_out_write(int fd, const struct buf *text)
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

/* Opens a new file; the picture takes the first name that is free. */
static int hand_out_open(enum app_take take, char *name)
{
    if (take != TAKE_SVG) {
        (void)snprintf(name, HAND_OUT_NAME_BYTES, "cutline-copy.txt");
        return open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    }
    for (int i = 1; i < HAND_OUT_NAMES; i++) {
        (void)snprintf(name, HAND_OUT_NAME_BYTES, "cutline-%d.svg", i);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }
    return -1;
}

void hand_out(struct terminal *term, struct app *app, const struct frame_style *style)
{
    struct buf text = {0};
    struct buf clip = {0};
    struct err err = {0};
    char name[HAND_OUT_NAME_BYTES];
    bool copied = app->take != TAKE_SVG;
    if (taken_make(app, style, term_theme(term), &text, &err) != 0) {
        app_fail(app, "%s", err.text);
        app->take = TAKE_NONE;
        return;
    }
    if (copied) {
        taken_clipboard(&text, &clip);
        term_send(term, buf_text(&clip), clip.len);
    }
    int fd = hand_out_open(app->take, name);
    if (fd < 0 || hand_out_write(fd, &text) != 0) {
        app_fail(app, "%s%s: %s", copied ? "copied to the clipboard; " : "", name, strerror(errno));
    } else if (app->take == TAKE_COMMAND) {
        app_say(app, "copied: %.200s", buf_text(&text));
    } else {
        app_say(app, copied ? "copied to the clipboard and to %s" : "saved as %s", name);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    app->take = TAKE_NONE;
    buf_free(&text);
    buf_free(&clip);
}
