/* window: see window.h. */
#include "viewer/rows/window.h"

#include "analysis/base/times.h"

/* A thousand columns of it are twice what any capture spans, and can be added to any time. */
#define WINDOW_NS_PER_COL_MAX (INT64_C(1) << 46)

/* Times may be typed, or come from a file of bookmarks. */
static int64_t window_time_of(int64_t t_ns)
{
    return t_ns < -TIMES_MAX_NS ? -TIMES_MAX_NS : t_ns > TIMES_MAX_NS ? TIMES_MAX_NS : t_ns;
}

int64_t window_floor(int64_t value, int64_t divisor)
{
    int64_t quotient = value / divisor;
    return quotient - (value % divisor < 0 ? 1 : 0);
}

int64_t window_end(const struct window *window)
{
    return window_time(window, window->cols);
}

bool window_same(const struct window *a, const struct window *b)
{
    return a->begin_ns == b->begin_ns && a->ns_per_col == b->ns_per_col && a->cols == b->cols;
}

int64_t window_time(const struct window *window, int64_t col)
{
    return window->begin_ns + col * window->ns_per_col;
}

int64_t window_col(const struct window *window, int64_t t_ns)
{
    return window_floor(i64_subtract(t_ns, window->begin_ns), window->ns_per_col);
}

struct window window_fit(int64_t begin_ns, int64_t end_ns, int cols)
{
    struct window window = {0, 1, cols < 1 ? 1 : cols};
    begin_ns = window_time_of(begin_ns);
    end_ns = window_time_of(end_ns);
    if (end_ns > begin_ns + 2 * TIMES_SPAN_MAX_NS) {
        end_ns = begin_ns + 2 * TIMES_SPAN_MAX_NS;
    }
    int64_t span_ns = end_ns > begin_ns ? end_ns - begin_ns : 1;
    window.ns_per_col = (span_ns + window.cols - 1) / window.cols;
    window.begin_ns = window_floor(begin_ns, window.ns_per_col) * window.ns_per_col;
    /* Rounding the begin down may push the end out: with one column to spare it cannot. */
    if (window_end(&window) < end_ns && window.cols > 1) {
        window.ns_per_col = (span_ns + window.cols - 2) / (window.cols - 1);
        window.begin_ns = window_floor(begin_ns, window.ns_per_col) * window.ns_per_col;
    }
    return window;
}

struct window window_scale(const struct window *window, int64_t ns_per_col, int64_t t_ns, int col)
{
    struct window out = *window;
    out.ns_per_col = ns_per_col < 1                       ? 1
                     : ns_per_col > WINDOW_NS_PER_COL_MAX ? WINDOW_NS_PER_COL_MAX
                                                          : ns_per_col;
    return window_put(&out, t_ns, col);
}

struct window window_pan(const struct window *window, int64_t cols)
{
    struct window out = *window;
    out.begin_ns = i64_add(out.begin_ns, i64_multiply(cols, window->ns_per_col));
    return out;
}

struct window window_put(const struct window *window, int64_t t_ns, int col)
{
    struct window out = *window;
    t_ns = window_time_of(t_ns);
    out.begin_ns = (window_floor(t_ns, window->ns_per_col) - col) * window->ns_per_col;
    return out;
}

struct window window_clamp(const struct window *window, int64_t begin_ns, int64_t end_ns)
{
    struct window out = *window;
    int64_t last_ns = window_floor(end_ns > begin_ns ? end_ns - 1 : begin_ns, out.ns_per_col);
    int64_t first_ns = window_floor(begin_ns, out.ns_per_col) - (out.cols - 1);
    last_ns *= out.ns_per_col;
    first_ns *= out.ns_per_col;
    if (out.begin_ns > last_ns) {
        out.begin_ns = last_ns;
    }
    if (out.begin_ns < first_ns) {
        out.begin_ns = first_ns;
    }
    return out;
}
