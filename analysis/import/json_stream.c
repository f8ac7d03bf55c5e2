/* json_stream: see json_stream.h. A ring of blocks between the reading thread and the parser; the parser
 * looks at a window of the text, which holds at least the value that it reads. */
#include "analysis/import/json_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    BLOCK_BYTES = 1 << 20,
    BLOCKS = 4,
    VALUE_BYTES_MAX = 16 << 20, /* a longer value is damaged, or nothing that is wanted */
    SEARCH_BYTES_MAX = 1 << 16, /* an event may be so long after a damaged place */
    HEAD_BYTES = 64
};

struct block {
    char *data;
    size_t len;
};

struct stream {
    gzFile file;
    /* The ring: blocks [taken, made) are full. */
    struct block blocks[BLOCKS];
    uint64_t made;
    uint64_t taken;
    bool ended; /* nothing more is made */
    bool bad_gzip;
    int code; /* errno of a failed read */
    bool given_up; /* by the parser */
    pthread_mutex_t mutex; /* guards the above but file and the data of blocks */
    pthread_cond_t changed;
    /* The window, of the parser alone. */
    char *window;
    size_t cap;
    size_t at;
    size_t end;
    bool whole; /* nothing comes after the window */
    bool cut; /* an event was cut by the end */
    size_t value_max;
    struct json_stream_result *result;
    const struct json_stream_sink *sink;
};

/* Fills one block. False at the end of the file, or where it cannot be read on. */
static bool make_block(struct stream *s, struct block *block)
{
    int code;
    block->len = 0;
    while (block->len < BLOCK_BYTES) {
        int n = gzread(s->file, block->data + block->len, (unsigned)(BLOCK_BYTES - block->len));
        if (n <= 0) {
            break;
        }
        block->len += (size_t)n;
    }
    (void)gzerror(s->file, &code);
    s->bad_gzip = code == Z_DATA_ERROR || code == Z_BUF_ERROR;
    s->code = code == Z_ERRNO ? errno : 0;
    return code == Z_OK && block->len == BLOCK_BYTES;
}

static void *make_blocks(void *arg)
{
    struct stream *s = arg;
    bool more = true;
    (void)pthread_mutex_lock(&s->mutex);
    while (more) {
        while (!s->given_up && s->made - s->taken == BLOCKS) {
            (void)pthread_cond_wait(&s->changed, &s->mutex);
        }
        if (s->given_up) {
            break;
        }
        (void)pthread_mutex_unlock(&s->mutex);
        more = make_block(s, &s->blocks[s->made % BLOCKS]);
        (void)pthread_mutex_lock(&s->mutex);
        s->made++;
        (void)pthread_cond_broadcast(&s->changed);
    }
    s->ended = true;
    (void)pthread_cond_broadcast(&s->changed);
    (void)pthread_mutex_unlock(&s->mutex);
    return NULL;
}

/* Room for a block after what the window still has to hold. 0 or -1. */
static int make_room(struct stream *s)
{
    size_t kept = s->end - s->at;
    if (s->at > 0) {
        memmove(s->window, s->window + s->at, kept);
        s->at = 0;
        s->end = kept;
    }
    if (kept + BLOCK_BYTES > s->cap) {
        size_t cap = s->cap == 0 ? 2 * (size_t)BLOCK_BYTES : s->cap * 2;
        char *grown = malloc(cap);
        if (grown == NULL) {
            return -1;
        }
        if (kept > 0) {
            memcpy(grown, s->window, kept);
        }
        free(s->window);
        s->window = grown;
        s->cap = cap;
    }
    return 0;
}

/* Takes the next block into the window. 1; 0: there is none (whole is set); -1: no memory, stopped. */
static int take_block(struct stream *s, struct err *err)
{
    if (s->sink->stopped != NULL && s->sink->stopped(s->sink->arg)) {
        return err_set(err, "interrupted");
    }
    if (make_room(s) != 0) {
        return err_nomem(err, "the trace");
    }
    (void)pthread_mutex_lock(&s->mutex);
    while (s->made == s->taken && !s->ended) {
        (void)pthread_cond_wait(&s->changed, &s->mutex);
    }
    bool any = s->made > s->taken;
    (void)pthread_mutex_unlock(&s->mutex);
    if (!any) {
        s->whole = true;
        return 0;
    }
    const struct block *block = &s->blocks[s->taken % BLOCKS];
    memcpy(s->window + s->end, block->data, block->len);
    s->end += block->len;
    (void)pthread_mutex_lock(&s->mutex);
    s->taken++;
    (void)pthread_cond_broadcast(&s->changed);
    (void)pthread_mutex_unlock(&s->mutex);
    return 1;
}

/* The next character that is not a blank, not taken; 0 at the end, -1 on failure. */
static int peek(struct stream *s, struct err *err)
{
    for (;;) {
        s->at = (size_t)(json_scan_blanks(s->window + s->at, s->window + s->end) - s->window);
        if (s->at < s->end) {
            return (unsigned char)s->window[s->at];
        }
        int got = s->whole ? 0 : take_block(s, err);
        if (got <= 0) {
            return got;
        }
    }
}

/* The next value, taken. 1; 0: none that ends, or not a value; -1 on failure. */
static int next_value(struct stream *s, struct json_value *value, struct err *err)
{
    for (;;) {
        const char *begin = s->window + s->at;
        const char *next = json_scan_value(begin, s->window + s->end, value);
        if (next != NULL) {
            s->at = (size_t)(next - s->window);
            return 1;
        }
        if (value->kind == JSON_NONE || s->whole || s->end - s->at > s->value_max) {
            return 0;
        }
        if (take_block(s, err) < 0) {
            return -1;
        }
    }
}

/*
 * Passes over a value that does not end: to the next brace after a comma, or between closing and opening
 * braces, where an event may begin. True where there is one.
 */
static int skip_to_event(struct stream *s, struct err *err)
{
    char before = ' ';
    s->result->damaged++;
    s->value_max = SEARCH_BYTES_MAX;
    s->at++;
    for (;;) {
        for (; s->at < s->end; s->at++) {
            char c = s->window[s->at];
            if (c == '{' && before == ',') {
                return 1;
            }
            before = c == ' ' || c == '\n' || c == '\r' || c == '\t' ? before : c;
        }
        int got = s->whole ? 0 : take_block(s, err);
        if (got <= 0) {
            return got;
        }
    }
}

/* The elements of the array whose bracket was taken, and its closing one. 0 or -1. */
static int read_events(struct stream *s, struct err *err)
{
    struct json_value value;
    for (;;) {
        int c = peek(s, err);
        if (c < 0) {
            return -1;
        }
        if (c == 0) {
            s->result->truncated = true;
            return 0;
        }
        if (c == ',' || c == ']') {
            s->at++;
            if (c == ']') {
                return 0;
            }
            continue;
        }
        int got = next_value(s, &value, err);
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            bool cut = s->whole && value.kind != JSON_NONE;
            got = skip_to_event(s, err);
            if (got <= 0) {
                s->result->truncated = true;
                s->cut = cut;
                s->result->damaged -= cut; /* the event that the end cut is no other damage */
                return got;
            }
            continue;
        }
        s->value_max = VALUE_BYTES_MAX;
        if (value.kind == JSON_OBJECT && s->sink->event(s->sink->arg, &value, err) != 0) {
            return -1;
        }
    }
}

/* A member of the outermost object whose key was read. 1: goes on; 0: it cannot; -1. */
static int read_member(struct stream *s, const struct json_value *key, struct err *err)
{
    struct json_value value;
    int c = peek(s, err);
    bool events = key->len == strlen("traceEvents") && json_is(key, "traceEvents");
    if (c < 0) {
        return -1;
    }
    if (events && c == '[') {
        s->at++;
        s->result->has_events = true;
        return read_events(s, err) != 0 ? -1 : 1;
    }
    int got = next_value(s, &value, err);
    if (got == 1 && s->sink->member(s->sink->arg, key, &value, err) != 0) {
        return -1;
    }
    return got;
}

/* The members of the outermost object. 0 or -1. */
static int read_object(struct stream *s, struct err *err)
{
    struct json_value key;
    int got = 1;
    s->at++;
    while (got == 1) {
        int c = peek(s, err);
        if (c == '}' || c < 0) {
            return c < 0 ? -1 : 0;
        }
        if (c == ',') {
            s->at++;
            continue;
        }
        got = c == '"' ? next_value(s, &key, err) : 0;
        if (got == 1) {
            char name[HEAD_BYTES]; /* the key may move with the window */
            struct json_value copy = {JSON_TEXT, false, name, key.len < sizeof name ? key.len : 0};
            memcpy(name, key.text, copy.len);
            c = peek(s, err);
            got = c < 0 ? -1 : c == ':';
            s->at += c == ':';
            got = got == 1 ? read_member(s, &copy, err) : got;
        }
    }
    s->result->truncated = true;
    return got;
}

static int read_document(struct stream *s, struct err *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    int c = peek(s, err);
    if (c == (unsigned char)mark[0] && s->end - s->at > 3 &&
        memcmp(s->window + s->at, mark, 3) == 0) {
        s->at += 3;
        c = peek(s, err);
    }
    if (c == '[') {
        s->at++;
        int status = read_events(s, err);
        /* "The ] at the end is optional": an array of events ends where the file does. */
        s->result->truncated = s->cut;
        return status;
    }
    return c == '{' ? read_object(s, err) : c < 0 ? -1 : 0;
}

static int run(struct stream *s, struct err *err)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, make_blocks, s) != 0) {
        return err_set(err, "no thread to read it");
    }
    int status = read_document(s, err);
    (void)pthread_mutex_lock(&s->mutex);
    s->given_up = true;
    (void)pthread_cond_broadcast(&s->changed);
    (void)pthread_mutex_unlock(&s->mutex);
    (void)pthread_join(thread, NULL);
    if (status == 0 && s->code != 0) {
        return err_set(err, "cannot be read: %s", strerror(s->code));
    }
    s->result->bad_gzip = s->bad_gzip;
    s->result->truncated = s->result->truncated || s->bad_gzip;
    return status;
}

static gzFile open_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    gzFile file = fd < 0 ? NULL : gzdopen(fd, "rb");
    if (fd >= 0 && file == NULL) {
        (void)close(fd);
    }
    return file;
}

bool json_stream_is(const char *path)
{
    char head[HEAD_BYTES];
    gzFile file = open_file(path);
    int len = file == NULL ? 0 : gzread(file, head, sizeof head);
    const char *at = head;
    if (len > 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
        at += 3;
    }
    const char *first = len <= 0 ? NULL : json_scan_blanks(at, head + len);
    if (file != NULL) {
        (void)gzclose_r(file);
    }
    return first != NULL && first < head + len && (*first == '{' || *first == '[');
}

int json_stream_read(const char *path, const struct json_stream_sink *sink,
                     struct json_stream_result *result, struct err *err)
{
    struct stream s = {.value_max = VALUE_BYTES_MAX, .result = result, .sink = sink};
    int status = 0;
    *result = (struct json_stream_result){0};
    s.file = open_file(path);
    if (s.file == NULL) {
        return err_set(err, "cannot be opened: %s", strerror(errno));
    }
    (void)gzbuffer(s.file, BLOCK_BYTES / 4);
    for (int i = 0; i < BLOCKS; i++) {
        s.blocks[i].data = malloc(BLOCK_BYTES);
        status = s.blocks[i].data == NULL ? -1 : status;
    }
    (void)pthread_mutex_init(&s.mutex, NULL);
    (void)pthread_cond_init(&s.changed, NULL);
    status = status != 0 ? err_nomem(err, path) : run(&s, err);
    (void)pthread_cond_destroy(&s.changed);
    (void)pthread_mutex_destroy(&s.mutex);
    for (int i = 0; i < BLOCKS; i++) {
        free(s.blocks[i].data);
    }
    free(s.window);
    (void)gzclose_r(s.file);
    return status;
}
