/* opts_read: the argument of an option, by its kind; and the words that are near a mistyped one. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "viewer/cli/opts_internal.h"

/* Where an argument goes, and an error. */
struct reading {
    void *args;
    struct err *err;
};

bool opts_choice(const struct opts_option *option, size_t i, const char **text, size_t *len)
{
    const char *at = option->choices;
    if (option->choice_at != NULL) {
        *text = option->choice_at(i);
        *len = *text == NULL ? 0 : strlen(*text);
        return *text != NULL;
    }
    if (option->kind == OPTS_BOOL) {
        at = "true|false";
    }
    for (; at != NULL && i > 0; i--) {
        at = strchr(at, '|');
        at = at == NULL ? NULL : at + 1;
    }
    *text = at;
    *len = at == NULL ? 0 : strcspn(at, "|");
    return at != NULL;
}

/* "-r" or "--report", as it was most likely given. */
static const char *shown(const struct opts_option *option, char out[64])
{
    (void)snprintf(out, 64, "--%s", option->name);
    return out;
}

static void *slot(const struct reading *r, const struct opts_option *option)
{
    return (char *)r->args + option->at;
}

static int find_choice(const struct opts_option *option, const char *value, size_t value_len)
{
    const char *text;
    size_t len;
    for (size_t i = 0; opts_choice(option, i, &text, &len); i++) {
        if (len == value_len && memcmp(text, value, len) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* "a, b or c" of the choices. */
static void list_choices(const struct opts_option *option, struct buf *out)
{
    const char *text;
    const char *after;
    size_t len;
    size_t after_len;
    for (size_t i = 0; opts_choice(option, i, &text, &len); i++) {
        if (i > 0) {
            buf_adds(out, opts_choice(option, i + 1, &after, &after_len) ? ", " : " or ");
        }
        buf_add(out, text, len);
    }
}

static int bad_choice(const struct reading *r, const struct opts_option *option, const char *value,
                      size_t len)
{
    struct buf list = {0};
    char name[64];
    list_choices(option, &list);
    (void)err_set(r->err, "%s cannot be '%.*s'; it is one of %s", shown(option, name), (int)len,
                  value, buf_text(&list));
    buf_free(&list);
    return -1;
}

/* Each reader of a kind: the argument into the slot. 0, or -1 with err set. */
typedef int reader(const struct reading *r, const struct opts_option *option, const char *value);

static int read_flag(const struct reading *r, const struct opts_option *option, const char *value)
{
    (void)value;
    *(bool *)slot(r, option) = true;
    return 0;
}

static int read_text(const struct reading *r, const struct opts_option *option, const char *value)
{
    *(const char **)slot(r, option) = value;
    return 0;
}

static int read_list(const struct reading *r, const struct opts_option *option, const char *value)
{
    struct opts_list *list = slot(r, option);
    char name[64];
    if (list->count == OPTS_LIST_MAX) {
        return err_set(r->err, "%s was given more than %d times", shown(option, name),
                       OPTS_LIST_MAX);
    }
    list->items[list->count++] = value;
    return 0;
}

static int read_int(const struct reading *r, const struct opts_option *option, const char *value)
{
    char name[64];
    char *end;
    long long number;
    errno = 0;
    number = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0') {
        return err_set(r->err, "%s takes a whole number, not '%s'", shown(option, name), value);
    }
    if ((option->max != 0 || option->min != 0) && (number < option->min || number > option->max)) {
        return err_set(r->err, "%s is from %" PRId64 " to %" PRId64 ", not %s", shown(option, name),
                       option->min, option->max, value);
    }
    *(int64_t *)slot(r, option) = number;
    return 0;
}

static int read_time(const struct reading *r, const struct opts_option *option, const char *value)
{
    char name[64];
    char least[TIMEFMT_BYTES];
    int64_t unit_ns = option->unit_ns == 0 ? INT64_C(1000000000) : option->unit_ns;
    int64_t *out = slot(r, option);
    if (timefmt_parse(value, unit_ns, out, r->err) != 0) {
        return err_prefix(r->err, "%s", shown(option, name));
    }
    if ((option->max != 0 || option->min != 0) && *out < option->min) {
        return err_set(r->err, "%s takes a time of %s or longer, not '%s'", shown(option, name),
                       option->min == 0 ? "0" : timefmt_duration(option->min, least), value);
    }
    return 0;
}

static int read_bytes(const struct reading *r, const struct opts_option *option, const char *value)
{
    static const char UNITS[] = "kmgt";
    char name[64];
    char *end;
    const char *unit;
    int shift = 0;
    long long number;
    errno = 0;
    number = strtoll(value, &end, 10);
    if (errno == 0 && end != value && *end != '\0') {
        unit = strchr(UNITS, *end | 0x20);
        shift = unit == NULL ? 0 : (int)(unit - UNITS + 1) * 10;
        end += unit == NULL ? 0 : 1;
        end += (*end | 0x20) == 'i' ? 1 : 0;
        end += (*end | 0x20) == 'b' ? 1 : 0;
    }
    if (errno != 0 || end == value || *end != '\0' || number < 0 || number > INT64_MAX >> shift) {
        return err_set(r->err, "%s takes a size such as 64M or 2G, not '%s'", shown(option, name),
                       value);
    }
    *(int64_t *)slot(r, option) = (int64_t)number << shift;
    return 0;
}

/* The truth of a word; -1 where it is none. */
static int truth(const char *value)
{
    static const char *const WORDS[] = {"false", "true", "no", "yes", "off", "on", "0", "1", NULL};
    for (int i = 0; WORDS[i] != NULL; i++) {
        if (strcmp(WORDS[i], value) == 0) {
            return i % 2;
        }
    }
    return -1;
}

static int read_bool(const struct reading *r, const struct opts_option *option, const char *value)
{
    int is = truth(value);
    if (is < 0) {
        return bad_choice(r, option, value, strlen(value));
    }
    *(bool *)slot(r, option) = is == 1;
    return 0;
}

static int read_choice(const struct reading *r, const struct opts_option *option, const char *value)
{
    int index = find_choice(option, value, strlen(value));
    if (index < 0) {
        return bad_choice(r, option, value, strlen(value));
    }
    *(int *)slot(r, option) = index;
    return 0;
}

static int read_set(const struct reading *r, const struct opts_option *option, const char *value)
{
    uint32_t bits = 0;
    while (*value != '\0') {
        size_t len = strcspn(value, ",");
        int index = find_choice(option, value, len);
        if (index < 0 || index > 31) {
            return bad_choice(r, option, value, len);
        }
        bits |= UINT32_C(1) << index;
        value += len + (value[len] == ',' ? 1 : 0);
    }
    *(uint32_t *)slot(r, option) = bits;
    return 0;
}

static int read_call(const struct reading *r, const struct opts_option *option, const char *value)
{
    char name[64];
    if (option->call(r->args, value, r->err) != 0) {
        return err_prefix(r->err, "%s", shown(option, name));
    }
    return 0;
}

static reader *const READERS[] = {
    [OPTS_FLAG] = read_flag, [OPTS_TEXT] = read_text,     [OPTS_LIST] = read_list,
    [OPTS_INT] = read_int,   [OPTS_TIME] = read_time,     [OPTS_BYTES] = read_bytes,
    [OPTS_BOOL] = read_bool, [OPTS_CHOICE] = read_choice, [OPTS_SET] = read_set,
    [OPTS_CALL] = read_call,
};

int opts_read(const struct opts_option *option, const char *value, void *args, struct err *err)
{
    const struct reading reading = {.args = args, .err = err};
    return READERS[option->kind](&reading, option, value);
}

/* Damerau's distance (optimal alignment) of two short words. */
static size_t distance(const char *a, const char *b)
{
    enum {
        MAX = 48
    };
    size_t rows[3][MAX + 1];
    size_t la = strlen(a);
    size_t lb = strlen(b);
    if (la > MAX || lb > MAX) {
        return MAX;
    }
    for (size_t j = 0; j <= lb; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= la; i++) {
        size_t *now = rows[i % 3];
        const size_t *up = rows[(i + 2) % 3];
        const size_t *up2 = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            best = up[j] + 1 < best ? up[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                up2[j - 2] + 1 < best) {
                best = up2[j - 2] + 1;
            }
            now[j] = best;
        }
    }
    return rows[la % 3][lb];
}

const char *opts_nearest(const char *word, const char *const *names)
{
    const char *near = NULL;
    size_t best = strlen(word) / 3 + 1;
    for (; *names != NULL; names++) {
        size_t d = distance(word, *names);
        if (d < best || (d == best && near == NULL)) {
            best = d;
            near = *names;
        }
    }
    return near;
}
