/*
 * bench_view: what the timeline costs: CPU per frame at five zooms (200x50), a filter keystroke to
 * the new frame, a list for a new span, and the bytes that go to the terminal (xterm-256color) for
 * an unchanged frame, a pan by one column, by a tenth of the screen, and a zoom.
 */
#undef _XOPEN_SOURCE
/* For posix_openpt; ncurses asks for 600.
 * NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming) */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "viewer/app/app.h"
#include "viewer/paint/frame.h"
#include "viewer/term/term.h"

enum {
    COLS = 200,
    ROWS = 50,
    FRAMES = 60,
    ZOOMS = 5
};

static double now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void die(const char *what, const struct err *err)
{
    (void)fprintf(stderr, "bench_view: %s: %s\n", what, err->text);
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void press(struct app *app, uint32_t code)
{
    struct key key = {.code = code};
    app_key(app, &key);
}

static void frame(struct app *app, struct canvas *canvas)
{
    struct frame_style style = {0};
    struct err err = {0};
    app_settle(app);
    if (frame_paint(app, &style, canvas, &err) != 0) {
        die("frame", &err);
    }
}

/* Median and worst CPU of a frame after a pan. */
static void bench_zoom(struct app *app, struct canvas *canvas, const char *name)
{
    double ms[FRAMES];
    frame(app, canvas);
    for (int i = 0; i < FRAMES; i++) {
        double begin = now_ms();
        app_look(app, window_pan(&app->window, i % 2 == 0 ? 7 : -6));
        frame(app, canvas);
        ms[i] = now_ms() - begin;
    }
    qsort(ms, FRAMES, sizeof ms[0], by_value);
    printf("frame %-22s %7.2f ms median %7.2f ms worst\n", name, ms[FRAMES / 2], ms[FRAMES - 1]);
}

static void bench_frames(struct app *app, struct canvas *canvas)
{
    static const char *const names[ZOOMS] = {"all", "1/10", "1/100", "1/10,000", "1/1,000,000"};
    static const int64_t parts[ZOOMS] = {1, 10, 100, 10000, 1000000};
    int64_t begin_ns = app->trace->begin_ns;
    int64_t span_ns = app->trace->end_ns - begin_ns;
    for (int i = 0; i < ZOOMS; i++) {
        int64_t middle_ns = begin_ns + span_ns / 2;
        app_look(app, window_fit(middle_ns - span_ns / (2 * parts[i]),
                                 middle_ns + span_ns / (2 * parts[i]) + 1, app->layout.time_cols));
        bench_zoom(app, canvas, names[i]);
    }
}

static void bench_key(struct app *app, struct canvas *canvas, const char *name, uint32_t code)
{
    double begin = now_ms();
    press(app, code);
    frame(app, canvas);
    printf("key   %-22s %7.2f ms\n", name, now_ms() - begin);
}

static void bench_filter(struct app *app, struct canvas *canvas)
{
    press(app, 'A');
    frame(app, canvas);
    press(app, 'f');
    frame(app, canvas);
    app_prepare(app); /* as the loop does before it waits for a key */
    bench_key(app, canvas, "filter: first letter", 'g');
    bench_key(app, canvas, "filter: second letter", 'e');
    bench_key(app, canvas, "filter: third letter", 'm');
    press(app, KEYS_ENTER);
    bench_key(app, canvas, "filter off", 'F');
    bench_key(app, canvas, "list: top ops, all", 't');
    press(app, KEYS_ESCAPE);
    bench_key(app, canvas, "list: gaps, all", 'g');
    press(app, KEYS_ESCAPE);
    app_look_at(app, app->trace->begin_ns, app->trace->begin_ns + 1000000000, 100);
    frame(app, canvas);
    bench_key(app, canvas, "list: top ops, 1 s", 't');
    press(app, KEYS_ESCAPE);
    bench_key(app, canvas, "list: gaps, 1 s", 'g');
    press(app, KEYS_ESCAPE);
}

/* The child: draws one frame for each byte that it gets, and answers each with a byte. */
static void bytes_child(struct app *app, int slave, int go, int done)
{
    static const char keys[] = "..1l1l1l1lll++--jj";
    struct term_options options = {.colors = -1};
    struct canvas canvas = {0};
    struct err err = {0};
    char byte = 0;
    (void)dup2(slave, STDIN_FILENO);
    (void)dup2(slave, STDOUT_FILENO);
    (void)setenv("TERM", "xterm-256color", 1);
    struct terminal *term = term_open(&options, &err);
    if (term == NULL) {
        (void)fprintf(stderr, "%s\n", err.text);
        _exit(1);
    }
    for (size_t i = 0; i < sizeof keys - 1; i++) {
        if (keys[i] != '.') {
            press(app, (uint32_t)keys[i]);
        }
        if (keys[i] >= '0' && keys[i] <= '9') {
            continue;
        }
        frame(app, &canvas);
        if (read(go, &byte, 1) != 1) {
            break;
        }
        app->message[0] = '\0';
        term_draw(term, &canvas, false);
        (void)tcdrain(STDOUT_FILENO);
        if (write(done, &byte, 1) != 1) {
            break;
        }
    }
    term_close(term);
    _exit(0);
}

/* Reads all that the terminal has been sent; how many bytes it was. */
static size_t bytes_drain(int master)
{
    char text[2048];
    size_t total = 0;
    ssize_t n;
    while ((n = read(master, text, sizeof text)) > 0) {
        total += (size_t)n;
    }
    return total;
}

static void bench_bytes(struct app *app)
{
    static const char *const names[] = {
        "first frame",  "unchanged",   "pan 1 column", "pan 1 column", "pan 1 column",
        "pan 1 column", "pan a tenth", "pan a tenth",  "zoom in",      "zoom in",
        "zoom out",     "zoom out",    "row down",     "row down"};
    struct winsize size = {.ws_row = ROWS, .ws_col = COLS};
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    int go[2];
    int done[2];
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 || pipe(go) != 0 ||
        pipe(done) != 0) {
        printf("bytes: no pseudo terminal: %s\n", strerror(errno));
        return;
    }
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    (void)ioctl(slave, TIOCSWINSZ, &size);
    (void)fcntl(master, F_SETFL, O_NONBLOCK);
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        bytes_child(app, slave, go[0], done[1]);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char byte = 0;
        size_t total = 0;
        if (write(go[1], &byte, 1) != 1) {
            break;
        }
        /* The child may wait for room in the terminal: read until it says that it is done. */
        (void)fcntl(done[0], F_SETFL, O_NONBLOCK);
        while (read(done[0], &byte, 1) != 1) {
            total += bytes_drain(master);
        }
        total += bytes_drain(master);
        printf("bytes %-22s %7zu\n", names[i], total);
    }
    (void)close(go[1]);
    (void)waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct canvas canvas = {0};
    if (argc != 2) {
        (void)fprintf(stderr, "usage: bench_view FILE\n");
        return 2;
    }
    struct trace *trace = trace_load(argv[1], NULL, &err);
    if (trace == NULL) {
        die(argv[1], &err);
    }
    printf("%u GPU ops, %u API calls, %u NVTX, %u OSRT\n", trace->events[TRACE_GPU].count,
           trace->events[TRACE_API].count, trace->events[TRACE_NVTX].count,
           trace->events[TRACE_OSRT].count);
    double begin = now_ms();
    struct app *app = app_open(trace, "bench", &err);
    if (app == NULL) {
        die("app", &err);
    }
    app_resize(app, COLS, ROWS);
    frame(app, &canvas);
    printf("open  %-22s %7.2f ms\n", "rows and first frame", now_ms() - begin);
    bench_frames(app, &canvas);
    bench_filter(app, &canvas);
    press(app, 'a');
    app_look_at(app, trace->begin_ns + (trace->end_ns - trace->begin_ns) / 2,
                trace->begin_ns + (trace->end_ns - trace->begin_ns) / 2 + 50000000, 100);
    bench_bytes(app);
    canvas_free(&canvas);
    app_close(app);
    trace_free(trace);
    return 0;
}
