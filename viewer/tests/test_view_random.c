/*
 * random keys: whatever is pressed, in whatever state and at whatever size, a frame can be drawn
 * and nothing is read or written out of place (the sanitizers watch). Seeded: a failure repeats.
 * CUTLINE_RANDOM_KEYS sets the number of keys for each capture.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tests/check.h"
#include "viewer/app/screens.h"
#include "viewer/paint/screen.h"

enum {
    KEYS_DEFAULT = 4000
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

/* Mostly keys that mean something; sometimes any character, the mouse, another size. */
static struct key random_key(uint32_t *seed, const struct app *app)
{
    static const char letters[] = "gemm|.*(stream:7 dur>10us)[a-z]+\\d{2,nccl-kind:memcpy";
    struct key key = {0};
    uint32_t kind = next_random(seed) % 32;
    if (app->prompt.kind != PROMPT_NONE && kind < 20) {
        key.code = (uint32_t)letters[next_random(seed) % (sizeof letters - 1)];
    } else if (kind < 26) {
        do {
            key.code =
                app->keymap
                    .keys[next_random(seed) % ACTION_COUNT][next_random(seed) % ACTION_KEYS_MAX];
        } while (key.code == 0 || key.code == 'q');
    } else if (kind < 28) {
        key.code = next_random(seed) % 0x3000;
    } else if (kind < 31) {
        key.code = KEYS_CLICK + next_random(seed) % (KEYS_WHEEL_DOWN - KEYS_CLICK + 1);
        key.x = (int)(next_random(seed) % 210);
        key.y = (int)(next_random(seed) % 52);
    } else {
        static const int sizes[][2] = {{80, 24}, {20, 5}, {200, 50}, {1, 1},   {5, 3},
                                       {40, 12}, {12, 8}, {300, 10}, {100, 80}};
        uint32_t at = next_random(seed) % (sizeof sizes / sizeof sizes[0]);
        key.code = KEYS_RESIZE;
        key.x = sizes[at][0];
        key.y = sizes[at][1];
    }
    return key;
}

static void check_canvas(const struct canvas *canvas)
{
    size_t count = (size_t)canvas->cols * (size_t)canvas->rows;
    for (size_t i = 0; i < count; i++) {
        uint32_t ch = canvas->cells[i].ch;
        assert_true(canvas->cells[i].role < ROLE_COUNT);
        assert_true(ch == 0 || (ch >= 32 && ch != 127 && (ch < 0x80 || ch >= 0xa0)));
    }
}

static struct trace *load(const char *path)
{
    struct err err = {0};
    struct trace *trace = trace_load(path, NULL, &err);
    if (trace == NULL) {
        fail_msg("%s: %s", path, err.text);
    }
    return trace;
}

/* Presses keys on one capture, or on two side by side. */
static void press(const char *path, const char *second, uint32_t seed, int count)
{
    struct err err = {0};
    struct trace *traces[2] = {load(path), second == NULL ? NULL : load(second)};
    struct app *apps[2] = {NULL, NULL};
    struct session session;
    struct canvas canvas = {0};
    for (int i = 0; i < 2 && traces[i] != NULL; i++) {
        apps[i] = app_open(traces[i], "random.sqlite", &err);
        assert_non_null(apps[i]);
    }
    assert_int_equal(session_open(&session, apps[0], apps[1], &err), 0);
    for (int i = 0; i < count; i++) {
        struct app *app = session_app(&session);
        struct key key = random_key(&seed, app);
        struct frame_style style = {.ascii = (i & 64) != 0, .plain = (i & 128) != 0};
        session_key(&session, &key);
        app->quit = false;
        app->take = TAKE_NONE;
        app->reload = false;
        session_settle(&session);
        assert_int_equal(screen_paint(&session, &style, &canvas, &err), 0);
        app = session_app(&session);
        assert_int_equal(app->window.begin_ns % app->window.ns_per_col, 0);
        assert_int_equal(app->window.cols, app->layout.time_cols);
        if (i % 16 == 0) {
            check_canvas(&canvas);
        }
    }
    canvas_free(&canvas);
    session_close(&session);
    for (int i = 0; i < 2; i++) {
        app_close(apps[i]);
        trace_free(traces[i]);
    }
}

static int key_count(void)
{
    const char *text = getenv("CUTLINE_RANDOM_KEYS");
    int count = text != NULL ? (int)strtol(text, NULL, 10) : KEYS_DEFAULT;
    return count > 0 ? count : KEYS_DEFAULT;
}

static void random_keys_on_the_demo(void **state)
{
    const char *build = getenv("CUTLINE_BUILD");
    char path[1024];
    (void)state;
    if (build == NULL) {
        skip();
    }
    (void)snprintf(path, sizeof path, "%s/demo.sqlite", build);
    press(path, NULL, 1, key_count());
    press(path, path, 2, key_count());
}

static void random_keys_on_real_captures(void **state)
{
    const char *folder = getenv("CUTLINE_CAPTURES");
    DIR *dir = folder == NULL ? NULL : opendir(folder);
    struct dirent *entry;
    uint32_t seed = 100;
    (void)state;
    if (dir == NULL) {
        print_message("skipped: no real captures\n");
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        const char *end = strrchr(entry->d_name, '.');
        char path[1024];
        if (end != NULL && strcmp(end, ".sqlite") == 0) {
            (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            press(path, NULL, seed++, key_count() / 4);
        }
    }
    (void)closedir(dir);
}

static void random_keys_on_two_captures(void **state)
{
    const char *folder = getenv("CUTLINE_CAPTURES");
    char before[1024];
    char after[1024];
    FILE *file;
    (void)state;
    (void)snprintf(before, sizeof before, "%s/mfu-2gpu-before.sqlite",
                   folder == NULL ? "" : folder);
    (void)snprintf(after, sizeof after, "%s/mfu-2gpu-after.sqlite", folder == NULL ? "" : folder);
    file = fopen(before, "rb");
    if (file == NULL) {
        print_message("skipped: no real captures\n");
        return;
    }
    (void)fclose(file);
    press(before, after, 77, key_count());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_keys_on_the_demo),
        cmocka_unit_test(random_keys_on_real_captures),
        cmocka_unit_test(random_keys_on_two_captures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
