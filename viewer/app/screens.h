/*
 * screens: what one terminal shows: one capture, or two on one axis, one above the other.
 *
 * With two, keys go to the one in focus; the other follows: same scale, same filter, shifted so
 * that what was aligned stays aligned. app_ask of a verb (other, align) is served here.
 */
#ifndef CUTLINE_APP_SCREENS_H
#define CUTLINE_APP_SCREENS_H

#include "viewer/app/app.h"

struct session {
    struct app *apps[2]; /* owned by the caller; apps[1] NULL: one capture */
    int focus;
    int cols;
    int rows;
    int64_t shift_ns; /* time in apps[1] - time in apps[0] */
    struct align_names names;
};

/* second NULL: one capture. 0 or -1. */
int session_open(struct session *session, struct app *first, struct app *second, struct err *err);
/* After the struct was copied to here: what points into it follows. */
void session_moved(struct session *session);
void session_close(struct session *session);
void session_resize(struct session *session, int cols, int rows);
void session_key(struct session *session, const struct key *key);
int session_play(struct session *session, const char *script, size_t len, struct err *err);
void session_settle(struct session *session);
/* The screen row at which an app begins. */
int session_row(const struct session *session, int which);
static inline struct app *session_app(const struct session *session)
{
    return session->apps[session->focus];
}

#endif
