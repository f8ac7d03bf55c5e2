/*
 * findings_text: the findings as a table and as a page for people.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/shell.h"
#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings.h"
#include "analysis/detect/rules_text.h"

enum {
    PAGE_COLS = 79,
    INDENT = 4,
    WRAP_INDENT = 8, /* of the second line on */
    TIME_COLS = 12, /* at the right of a title */
};

static const struct table_column COLUMNS[] = {
    {"Recoverable", TABLE_TIME, 0}, {"Rule", TABLE_TEXT, 0},   {"Finding", TABLE_TEXT, 0},
    {"Evidence", TABLE_TEXT, 0},    {"Advice", TABLE_TEXT, 0}, {"Command", TABLE_TEXT, 0},
    {"Value", TABLE_REAL, 1},       {"Start", TABLE_TIME, 0},  {"End", TABLE_TIME, 0},
    {"Device ID", TABLE_INT, 0},    {"TID", TABLE_INT, 0},
};

struct table *findings_table(const struct trace *trace, const struct findings *findings)
{
    struct table *table = TABLE_NEW("Findings", COLUMNS);
    for (size_t i = 0; table != NULL && i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        if (finding->recoverable_ns < 0) {
            table_put_empty(table);
        } else {
            table_put_int(table, finding->recoverable_ns);
        }
        rules_put_text(table, finding->rule);
        rules_put_text(table, finding->title);
        rules_put_text(table, finding->evidence);
        rules_put_text(table, finding->advice);
        rules_put_text(table, finding->show);
        table_put_real(table, finding->value);
        table_put_int(table, finding->begin_ns);
        table_put_int(table, finding->end_ns);
        if (finding->device == TRACE_NONE) {
            table_put_empty(table);
        } else {
            table_put_int(table, trace->devices[finding->device].id);
        }
        if (finding->thread == TRACE_NONE) {
            table_put_empty(table);
        } else {
            table_put_int(table, trace->threads[finding->thread].tid);
        }
    }
    return table;
}

/* ---- the page ---- */

/* Bytes of text that fit in cols columns, at a blank where there is one. */
static size_t fit(const char *text, size_t len, size_t cols)
{
    size_t at = 0;
    size_t width = 0;
    size_t blank = 0;
    while (at < len) {
        uint32_t cp = 0;
        size_t bytes = utf8_decode(text + at, len - at, &cp);
        int w = utf8_width(cp);
        width += w > 0 ? (size_t)w : 0;
        if (width > cols) {
            return blank > 0 ? blank : at > 0 ? at : bytes;
        }
        if (cp == ' ') {
            blank = at;
        }
        at += bytes;
    }
    return len;
}

/* Text in lines of PAGE_COLS, the first after what is there, the others indented. */
static void wrap(struct buf *out, const char *text, size_t first_cols)
{
    size_t len = strlen(text);
    size_t cols = first_cols;
    while (len > 0) {
        size_t part = fit(text, len, cols);
        buf_add(out, text, part);
        buf_addc(out, '\n');
        while (part < len && text[part] == ' ') {
            part++;
        }
        text += part;
        len -= part;
        cols = PAGE_COLS - WRAP_INDENT;
        if (len > 0) {
            buf_fill(out, ' ', WRAP_INDENT);
        }
    }
}

static void line(struct buf *out, const char *label, const char *text)
{
    if (text[0] == '\0') {
        return;
    }
    buf_fill(out, ' ', INDENT);
    buf_adds(out, label);
    wrap(out, text, PAGE_COLS - INDENT - strlen(label));
}

/* A text over the page's width, the second line on indented. */
static void paragraph(struct buf *out, const char *text)
{
    if (text[0] != '\0') {
        wrap(out, text, PAGE_COLS);
    }
}

/* Lines, each as a paragraph. */
static void page_lines(const char *lines, struct buf *out)
{
    while (*lines != '\0') {
        struct buf line = {0};
        size_t len = strcspn(lines, "\n");
        buf_add(&line, lines, len);
        paragraph(out, buf_text(&line));
        buf_free(&line);
        lines += len + (lines[len] == '\n' ? 1 : 0);
    }
}

/* Busy time of a device in [begin, end), and how long that is from its first to its last op. */
static int64_t busy_in(const struct trace_device *device, int64_t begin_ns, int64_t end_ns,
                       int64_t *span_ns)
{
    int64_t ns = 0;
    int64_t first_ns = device->busy_begin_ns[0];
    int64_t last_ns = device->busy_end_ns[device->busy_count - 1];
    for (uint32_t i = 0; i < device->busy_count; i++) {
        int64_t a = device->busy_begin_ns[i] > begin_ns ? device->busy_begin_ns[i] : begin_ns;
        int64_t b = device->busy_end_ns[i] < end_ns ? device->busy_end_ns[i] : end_ns;
        ns += b > a ? b - a : 0;
    }
    first_ns = first_ns > begin_ns ? first_ns : begin_ns;
    last_ns = last_ns < end_ns ? last_ns : end_ns;
    *span_ns = last_ns > first_ns ? last_ns - first_ns : 0;
    return ns;
}

/* "GPU 0 H100 busy 61.3 % of 2.000 s (first to last op)"; where the findings are of a part of the
 * capture, also of that. */
static void page_device(const struct trace *trace, const struct findings *findings, uint32_t index,
                        struct buf *out)
{
    struct buf text = {0};
    char span[TIMEFMT_BYTES];
    const struct trace_device *device = &trace->devices[index];
    if (device->busy_count == 0) {
        return;
    }
    int64_t span_ns = device->busy_end_ns[device->busy_count - 1] - device->busy_begin_ns[0];
    int64_t busy_ns = device->busy_sum_ns[device->busy_count];
    buf_addf(&text, "GPU %lld ", (long long)device->id);
    utf8_sanitize(&text, device->name, device->name_len, false);
    buf_addf(&text, "%sbusy %.1f %% of %s (first to last op)", device->name_len > 0 ? " " : "",
             span_ns > 0 ? 100.0 * (double)busy_ns / (double)span_ns : 100.0,
             timefmt_duration(span_ns, span));
    if (findings->begin_ns != INT64_MIN || findings->end_ns != INT64_MAX) {
        int64_t part_ns = busy_in(device, findings->begin_ns, findings->end_ns, &span_ns);
        buf_addf(&text, ", %.1f %% of the %s that count",
                 span_ns > 0 ? 100.0 * (double)part_ns / (double)span_ns : 0.0,
                 timefmt_duration(span_ns, span));
    }
    paragraph(out, buf_text(&text));
    buf_free(&text);
}

/* The key of the list of the timeline that shows what the rule found; NULL: there is none. */
static const char *rule_key(const char *rule, const struct findings_page *page)
{
    const struct detector *detector = detector_find(rule);
    bool has_list = detector != NULL && detector->timeline_list != NULL;
    return has_list && page->key_of_list != NULL ? page->key_of_list(detector->timeline_list)
                                                 : NULL;
}

/* The command that shows the finding, on one line whatever its length: a shell that is given the rest
 * of a line as a line of its own would run it. */
static void see(const struct finding *finding, const struct findings_page *page, struct buf *out)
{
    struct buf text = {0};
    const char *key = rule_key(finding->rule, page);
    buf_addf(&text, "See: %s ", finding->show);
    shell_quote_path(&text, page->file);
    buf_fill(out, ' ', INDENT);
    buf_add(out, buf_text(&text), text.len);
    if (key != NULL) {
        if (INDENT + text.len + sizeof " (key X in the timeline)" <= PAGE_COLS) {
            buf_addc(out, ' ');
        } else {
            buf_addc(out, '\n');
            buf_fill(out, ' ', WRAP_INDENT);
        }
        buf_addf(out, "(key %s in the timeline)", key);
    }
    buf_addc(out, '\n');
    buf_free(&text);
}

static void page_finding(const struct finding *finding, size_t number,
                         const struct findings_page *page, struct buf *out)
{
    char time[TIMEFMT_BYTES] = "";
    struct buf title = {0};
    buf_addf(&title, "%2zu. %s", number, finding->title);
    if (finding->recoverable_ns >= 0) {
        (void)timefmt_duration(finding->recoverable_ns, time);
    }
    size_t width = utf8_cols(buf_text(&title), title.len);
    buf_add(out, buf_text(&title), title.len);
    if (time[0] != '\0') {
        size_t used = width + TIME_COLS <= PAGE_COLS ? width : 0;
        if (used == 0) {
            buf_addc(out, '\n');
        }
        buf_fill(out, ' ', PAGE_COLS - used - strlen(time));
        buf_adds(out, time);
    }
    buf_addc(out, '\n');
    buf_free(&title);
    line(out, "", finding->evidence);
    line(out, "Try: ", finding->advice);
    see(finding, page, out);
}

/* One line for each rule that sees again what another one counts: its first finding, how many more
 * there are, and what to try where the rule has time of its own to tell. */
static void page_again(const struct findings *findings, int64_t least_ns, struct buf *out)
{
    bool any = false;
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        size_t first = i;
        size_t more = 0;
        if (finding->within == NULL ||
            (finding->recoverable_ns >= 0 && finding->recoverable_ns < least_ns)) {
            continue;
        }
        for (size_t j = 0; j < findings->count; j++) {
            bool same = strcmp(findings->list[j].rule, finding->rule) == 0;
            first = same && j < first ? j : first;
            more += same && j > i ? 1 : 0;
        }
        if (first < i) {
            continue;
        }
        if (!any) {
            buf_adds(out, "\nCounted above, and seen by other rules (analyze -r RULE):\n\n");
        }
        any = true;
        struct buf text = {0};
        buf_addf(&text, "%s: %s", finding->rule, finding->title);
        if (more > 0) {
            buf_addf(&text, " (and %zu more)", more);
        }
        line(out, "", buf_text(&text));
        if (finding->recoverable_ns >= 0) {
            buf_fill(out, ' ', INDENT);
            line(out, "", finding->advice);
        }
        buf_free(&text);
    }
}

/* The longest time of a device that the findings are of. */
static int64_t longest_span(const struct trace *trace, const struct findings *findings)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct trace_device *device = &trace->devices[i];
        if (device->busy_count == 0) {
            continue;
        }
        int64_t begin_ns = device->busy_begin_ns[0];
        int64_t end_ns = device->busy_end_ns[device->busy_count - 1];
        begin_ns = begin_ns > findings->begin_ns ? begin_ns : findings->begin_ns;
        end_ns = end_ns < findings->end_ns ? end_ns : findings->end_ns;
        ns = end_ns - begin_ns > ns ? end_ns - begin_ns : ns;
    }
    return ns;
}

/* The command whose page is of a part of the capture, ready to copy. */
static void page_part(const char *option, int64_t begin_ns, int64_t end_ns,
                      const struct findings_page *page, struct buf *out)
{
    buf_fill(out, ' ', INDENT);
    buf_addf(out, "See: cutline analyze %s", option);
    if (begin_ns != INT64_MIN || end_ns != INT64_MAX) {
        buf_addf(out, "--filter-time %lld/%lld", (long long)begin_ns, (long long)end_ns);
    }
    buf_addc(out, ' ');
    shell_quote_path(out, page->file);
    buf_addc(out, '\n');
}

/* What lies around the work, and which part the findings are of. */
static void page_around(const struct findings *findings, const struct findings_page *page,
                        struct buf *out)
{
    const struct steady *steady = &findings->steady;
    paragraph(out, findings->before);
    paragraph(out, findings->after);
    paragraph(out, findings->steady_text);
    if (steady->is_there) {
        page_part("--whole", INT64_MIN, INT64_MAX, page, out);
    }
    paragraph(out, findings->start_up);
    if (findings->start_up[0] != '\0') {
        page_part("", steady->first_ns, steady->begin_ns, page, out);
    }
    paragraph(out, findings->end);
    if (findings->end[0] != '\0') {
        page_part("", steady->end_ns, steady->last_ns, page, out);
    }
}

/* Times of several devices are not added up: who reads the page must not, either. */
static void page_head(const struct findings *findings, struct buf *out)
{
    uint32_t device = TRACE_NONE;
    bool several = false;
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        if (finding->device != TRACE_NONE && finding->recoverable_ns > 0) {
            several |= device != TRACE_NONE && device != finding->device;
            device = finding->device;
        }
    }
    buf_adds(out, "Findings, by the time that could be won at most");
    buf_adds(out, several ? "; devices work side by side,\nso that their times do not add up:\n"
                          : ":\n");
}

void findings_text(const struct trace *trace, const struct findings *findings,
                   const struct findings_page *page, struct buf *out)
{
    int64_t least_ns = page->all ? 0 : longest_span(trace, findings) / 1000;
    size_t shown = 0;
    size_t small = 0;
    for (uint32_t i = 0; i < trace->device_count; i++) {
        page_device(trace, findings, i, out);
    }
    page_lines(findings->about, out);
    page_around(findings, page, out);
    if (trace->events[TRACE_GPU].count == 0) {
        buf_adds(out, "No GPU work in this capture; cutline info says what there is.\n");
    }
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        if (finding->recoverable_ns >= 0 && finding->recoverable_ns < least_ns) {
            small++;
            continue;
        }
        if (finding->within != NULL && !page->all) {
            continue;
        }
        if (shown == 0) {
            page_head(findings, out);
        }
        buf_addc(out, '\n');
        page_finding(finding, ++shown, page, out);
    }
    if (!page->all) {
        page_again(findings, least_ns, out);
    }
    if (shown == 0) {
        buf_adds(out, "No finding that is worth 0.1 % of the span.\n");
    }
    if (small > 0) {
        buf_addf(out, "\n%zu more below 0.1 %% of the span; --all shows them.\n", small);
    }
}

/* ---- thresholds ---- */

/* Do the values of one place add up, or does the worst count? */
static bool adds_up(const char *rule)
{
    const struct detector *detector = detector_find(rule);
    return detector == NULL || !detector->value_is_worst;
}

static bool same_place(const struct finding *a, const struct finding *b)
{
    return a->device == b->device && (a->device != TRACE_NONE || a->thread == b->thread);
}

double findings_value(const struct findings *findings, const char *rule)
{
    double most = 0.0;
    for (size_t i = 0; i < findings->count; i++) {
        double sum = 0.0;
        if (strcmp(findings->list[i].rule, rule) != 0) {
            continue;
        }
        for (size_t j = 0; j < findings->count; j++) {
            bool same = strcmp(findings->list[j].rule, rule) == 0 &&
                        same_place(&findings->list[i], &findings->list[j]);
            if (same && (adds_up(rule) || i == j)) {
                sum += findings->list[j].value;
            }
        }
        most = sum > most ? sum : most;
    }
    return most;
}

int64_t findings_recoverable_ns(const struct findings *findings, const char *rule)
{
    int64_t most = 0;
    for (size_t i = 0; i < findings->count; i++) {
        int64_t sum = 0;
        if (strcmp(findings->list[i].rule, rule) != 0) {
            continue;
        }
        for (size_t j = 0; j < findings->count; j++) {
            const struct finding *other = &findings->list[j];
            if (strcmp(other->rule, rule) == 0 && same_place(&findings->list[i], other) &&
                other->recoverable_ns > 0) {
                sum += other->recoverable_ns;
            }
        }
        most = sum > most ? sum : most;
    }
    return most;
}
