/* wall_clock: see wall_clock.h. Time 0 of a capture is its session's start, which the file has as
 * nanoseconds since 1970 (UTC) and as text in local time, in whole seconds. */
#include "viewer/app/wall_clock.h"

#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/base/times.h"
#include "analysis/store/store.h"

static const int64_t SECOND_NS = INT64_C(1000000000);
static const int64_t DAY_NS = INT64_C(86400000000000);

enum {
    DECIMALS = 9
};

bool wall_clock_is(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits >= 1 && digits <= 2 && text[digits] == ':';
}

/* Two digits at most; moves on. -1 where there are none, or more than most. */
static int read_part(const char **text, int most)
{
    int value = 0;
    int digits = 0;
    while (**text >= '0' && **text <= '9' && digits < 2) {
        value = value * 10 + (*(*text)++ - '0');
        digits++;
    }
    return digits == 0 || value > most ? -1 : value;
}

/* Nanoseconds since midnight of "H:M[:S[.F]]"; -1 for anything else. What follows is put in *rest. */
static int64_t read_clock(const char *text, const char **rest)
{
    int64_t scale_ns = SECOND_NS;
    int hour = read_part(&text, 23);
    int minute = hour >= 0 && *text == ':' ? (text++, read_part(&text, 59)) : -1;
    if (minute < 0) {
        return -1;
    }
    int64_t ns = (hour * INT64_C(3600) + minute * INT64_C(60)) * SECOND_NS;
    if (*text == ':') {
        text++;
        int second = read_part(&text, 60);
        if (second < 0) {
            return -1;
        }
        ns += second * SECOND_NS;
        if (*text == '.') {
            text++;
            for (int i = 0; i < DECIMALS && *text >= '0' && *text <= '9'; i++) {
                scale_ns /= 10;
                ns += scale_ns * (*text++ - '0');
            }
        }
    }
    *rest = text;
    return ns;
}

/* A time of the day, 0 to a day. */
static int64_t in_day(int64_t ns)
{
    int64_t rest = ns % DAY_NS;
    return rest < 0 ? rest + DAY_NS : rest;
}

/* Nanoseconds since local midnight at time 0; -1 where the file does not say. */
static int64_t start_of_capture(struct store *store)
{
    static const char *const columns[] = {"utcEpochNs", "localTime"};
    const struct store_scan scan = {"TARGET_INFO_SESSION_START_TIME", columns, 2, 0, INT64_MAX};
    struct store_cursor *cursor = store_scan(store, &scan, NULL);
    int64_t ns = -1;
    if (cursor != NULL && store_next(cursor, NULL) == 1 && !store_is_null(cursor, 0)) {
        char local[64] = "";
        size_t len = 0;
        const char *text = store_text(cursor, 1, &len);
        const char *rest = NULL;
        if (text != NULL && len < sizeof local) {
            memcpy(local, text, len);
            local[len] = '\0';
        }
        int64_t utc_ns = store_int(cursor, 0, 0);
        utc_ns = utc_ns < TIMES_MAX_NS && utc_ns > -TIMES_MAX_NS ? utc_ns : in_day(utc_ns);
        const char *clock = strchr(local, 'T');
        int64_t local_ns = clock != NULL ? read_clock(clock + 1, &rest) : -1;
        /* The text has whole seconds (and so tells the zone), the number has all digits. */
        int64_t zone_ns = local_ns >= 0 ? local_ns - in_day(utc_ns) / SECOND_NS * SECOND_NS : 0;
        ns = in_day(in_day(utc_ns) + zone_ns);
    }
    store_cursor_close(cursor);
    return ns;
}

int wall_clock_parse(const struct trace *trace, const char *text, int64_t *t_ns, struct err *err)
{
    const char *rest = text;
    int64_t clock_ns = read_clock(text, &rest);
    if (clock_ns < 0 || *rest != '\0') {
        return err_set(err, "'%.40s' is no time of a day: 13:33 or 13:33:20.2", text);
    }
    struct store *store = trace_store(trace, err);
    if (store == NULL) {
        return -1;
    }
    int64_t start_ns = start_of_capture(store);
    store_close(store);
    if (start_ns < 0) {
        return err_set(err, "the capture does not say at what time it began");
    }
    *t_ns = in_day(clock_ns - start_ns);
    if (*t_ns > trace->end_ns) {
        char length[TIMEFMT_BYTES];
        int64_t second = start_ns / SECOND_NS;
        return err_set(err,
                       "%.40s is outside of the capture: it begins at %02d:%02d:%02d and has %s",
                       text, (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60),
                       timefmt_duration(trace->end_ns, length));
    }
    return 0;
}
