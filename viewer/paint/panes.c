/* panes: what stands below the timeline: the detail pane, a list, the help. */
#include <stdio.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "viewer/paint/parts.h"

enum {
    PANES_FIELD_COLS = 38,
    PANES_KEY_COLS = 18
};

static void panes_rule(const struct parts *parts, int y, const char *title)
{
    struct canvas_pen pen = parts_pen(parts, y, ROLE_RULE);
    if (title[0] != '\0') {
        canvas_fill(&pen, parts->glyphs->rule, 2);
        canvas_put(&pen, ' ');
        pen.role = ROLE_LIST_HEAD;
        (void)canvas_text_cut(&pen, title, strlen(title));
        pen.role = ROLE_RULE;
        canvas_put(&pen, ' ');
    }
    canvas_fill_rest(&pen, parts->glyphs->rule);
}

/* At the end of the rule: "3 rows above, 12 below". */
static void panes_rule_rows(const struct parts *parts, int y)
{
    char text[64];
    int above;
    int below;
    int len = 0;
    parts_hidden_rows(parts, &above, &below);
    if (above > 0) {
        len = snprintf(text, sizeof text, " %d row%s above%s", above, above == 1 ? "" : "s",
                       below > 0 ? "," : " ");
    }
    if (below > 0) {
        len += snprintf(text + len, sizeof text - (size_t)len,
                        above > 0    ? " %d below "
                        : below == 1 ? " %d row below "
                                     : " %d rows below ",
                        below);
    }
    if (len > 0 && len + 8 < parts->at->cols) {
        struct canvas_pen pen = parts_pen(parts, y, ROLE_DIM);
        pen.col = parts->at->cols - len - 2;
        (void)canvas_puts(&pen, text);
    }
}

/* All columns of the row, in as many columns of text as there is room for. */
static void panes_fields(const struct parts *parts, int y, int rows)
{
    const struct detail *detail = &parts->app->detail;
    int across = parts->at->cols / PANES_FIELD_COLS;
    across = across < 1 ? 1 : across;
    int lines = (detail->field_count + across - 1) / across;
    lines = lines < 1 ? 1 : lines;
    for (int i = 0; i < detail->field_count; i++) {
        const struct detail_field *field = &detail->fields[i];
        int col = i / lines * PANES_FIELD_COLS;
        struct canvas_pen pen =
            canvas_pen(parts->canvas, y + i % lines, col, col + PANES_FIELD_COLS - 1, ROLE_DIM);
        if (i % lines >= rows) {
            continue;
        }
        (void)canvas_text_cut(&pen, field->key, strlen(field->key));
        pen.col = pen.col < col + PANES_KEY_COLS ? col + PANES_KEY_COLS : pen.col + 1;
        pen.role = ROLE_DETAIL;
        (void)canvas_text_cut(&pen, field->value, field->value_len);
    }
}

/* Where a line of so many columns ends: behind a blank, or at the edge. No byte takes more than a
 * column. */
static size_t panes_break(const char *text, size_t len, size_t cols)
{
    size_t step = cols;
    size_t blank = cols;
    if (len <= cols) {
        return len;
    }
    while (step > 1 && ((unsigned char)text[step] & 0xC0U) == 0x80U) {
        step--;
    }
    while (blank > cols * 2 / 3 && text[blank - 1] != ' ') {
        blank--;
    }
    return blank > cols * 2 / 3 ? blank : step;
}

/* Text over several lines, the last one cut. Returns the lines that it took. */
static int panes_wrap(const struct parts *parts, int y, int lines, enum canvas_role role,
                      const char *text, size_t len)
{
    size_t at = 0;
    int used = 0;
    while (at < len && used < lines) {
        struct canvas_pen pen = parts_pen(parts, y + used, role);
        size_t step = panes_break(text + at, len - at, (size_t)parts->at->cols);
        used++;
        if (used == lines) {
            (void)canvas_text_cut(&pen, text + at, len - at);
            break;
        }
        (void)canvas_text(&pen, text + at, step);
        at += step;
    }
    return used;
}

/* The lines that panes_wrap would like. */
static int panes_lines(const struct parts *parts, const struct buf *text)
{
    size_t at = 0;
    int lines = 0;
    while (at < text->len && lines < parts->at->rows) {
        at += panes_break(buf_text(text) + at, text->len - at, (size_t)parts->at->cols);
        lines++;
    }
    return lines;
}

static int panes_wrap_buf(const struct parts *parts, int y, int lines, enum canvas_role role,
                          const struct buf *text)
{
    return panes_wrap(parts, y, lines, role, buf_text(text), text->len);
}

/* "GPU 0: compute 61.2 %, comm 3.0 %, ...": of the time in view. */
static void panes_parts(const struct parts *parts, int y)
{
    const struct app *app = parts->app;
    const struct overlap_parts *ns = &app->figures.parts;
    uint32_t device = app_device(app);
    int64_t all_ns = ns->compute_only_ns + ns->communication_only_ns + ns->both_ns +
                     ns->copy_only_ns + ns->idle_ns;
    double share = all_ns > 0 ? 100.0 / (double)all_ns : 0.0;
    struct canvas_pen pen = parts_pen(parts, y, ROLE_DETAIL_STRONG);
    (void)canvas_printf(&pen, "GPU %lld", (long long)app->trace->devices[device].id);
    pen.role = ROLE_DETAIL;
    (void)canvas_printf(
        &pen, ": compute %.1f %%, comm %.1f %%, both %.1f %%, only copies %.1f %%, idle %.1f %%",
        (double)ns->compute_only_ns * share, (double)ns->communication_only_ns * share,
        (double)ns->both_ns * share, (double)ns->copy_only_ns * share, (double)ns->idle_ns * share);
}

/* The facts get what they want, unless that leaves too little for where the event comes from. Of a
 * gap the cause is among the facts: it goes first. */
static int panes_facts_lines(const struct parts *parts, int room)
{
    const struct detail *detail = &parts->app->detail;
    int facts = panes_lines(parts, &detail->facts);
    int origin = panes_lines(parts, &detail->origin);
    int most = room - (app_has_gap(parts->app) && origin > 1 ? 1 : origin);
    most = most < 1 && room > 0 ? 1 : most;
    return facts < most ? facts : most;
}

void parts_detail(struct parts *parts)
{
    const struct app *app = parts->app;
    const struct detail *detail = &app->detail;
    int y = parts->at->detail_row;
    int end = y + parts->at->detail_rows;
    struct canvas_pen pen;
    panes_rule(parts, y, "");
    panes_rule_rows(parts, y++);
    if (detail->title.len == 0) {
        const char *hint = app->trace->device_count == 0
                               ? "Nothing is selected. w and b step through the events of a row."
                               : "Nothing is selected. w and b step through the events of a row, "
                                 "] and [ through the gaps of the GPU.";
        if (app->trace->device_count == 0) {
            static const char none[] = "No GPU work was recorded: cutline info says what is in the "
                                       "file and why.";
            pen = parts_pen(parts, y++, ROLE_ERROR);
            (void)canvas_text_cut(&pen, none, sizeof none - 1);
        }
        if (app->figures.has_parts) {
            panes_parts(parts, y++);
        }
        (void)panes_wrap(parts, y, end - y, ROLE_DIM, hint, strlen(hint));
        return;
    }
    y += panes_wrap_buf(parts, y, app->detail_open ? 4 : 1, ROLE_DETAIL_STRONG, &detail->title);
    y += panes_wrap_buf(parts, y, panes_facts_lines(parts, end - y), ROLE_DETAIL, &detail->facts);
    y += panes_wrap_buf(parts, y, end - y, ROLE_DETAIL, &detail->origin);
    if (app->detail_open && y < end) {
        panes_fields(parts, y, end - y);
    }
}

static void panes_value(const struct panel_column *column, int64_t value, int64_t step_ns,
                        char *out)
{
    char text[TIMEFMT_BYTES];
    switch (column->type) {
    case PANEL_TIME:
    case PANEL_TIME_RANKED:
        if (value < 0) {
            (void)snprintf(out, TIMEFMT_BYTES, value == PANEL_AGAIN ? "above" : "?");
            break;
        }
        (void)timefmt_duration(value, out);
        break;
    case PANEL_TIME_SIGNED:
        (void)timefmt_duration(value, text);
        (void)snprintf(out, TIMEFMT_BYTES, "%s%.*s", value > 0 ? "+" : "", TIMEFMT_BYTES - 2, text);
        break;
    case PANEL_AT:
        (void)timefmt_at(value, step_ns, out);
        break;
    case PANEL_COUNT:
        (void)timefmt_count(value, out);
        break;
    case PANEL_PER_MILLE:
        (void)snprintf(out, TIMEFMT_BYTES, "%lld.%lld", (long long)(value / 10),
                       (long long)(value % 10));
        break;
    default:
        (void)snprintf(out, TIMEFMT_BYTES, "%lld", (long long)value);
        break;
    }
}

static void panes_item(const struct parts *parts, const struct panel_item *item, int y,
                       enum canvas_role role)
{
    const struct panel *list = &parts->app->list;
    struct canvas_pen pen = parts_pen(parts, y, role);
    int64_t step_ns = parts->app->window.ns_per_col < 1000 ? 1 : 1000;
    for (int i = 0; i < list->column_count; i++) {
        const struct panel_column *column = &list->columns[i];
        char text[TIMEFMT_BYTES];
        if (column->type == PANEL_TEXT) {
            if (item->name != TRACE_NONE && role != ROLE_LIST_CURRENT && !parts->plain) {
                struct canvas_pen chip = pen;
                chip.role = ROLE_BAR;
                chip.hue = parts->app->hues[item->name];
                chip.rgb = parts->app->hue_rgbs[item->name];
                canvas_fill(&chip, ' ', 1);
                pen.col = chip.col;
            } else {
                canvas_fill(&pen, ' ', 1);
            }
            canvas_fill(&pen, ' ', 1);
            if (item->name != TRACE_NONE) {
                parts_name(parts, item->name, &pen);
            } else {
                (void)canvas_text_cut(&pen, item->text, item->text_len);
            }
            continue;
        }
        panes_value(column, item->value[i], step_ns, text);
        int len = (int)strlen(text);
        canvas_fill(&pen, ' ', column->cols - len > 0 ? column->cols - len : 0);
        if (column->type == PANEL_TIME_SIGNED && role == ROLE_LIST && item->value[i] != 0) {
            pen.role = item->value[i] > 0 ? ROLE_WORSE : ROLE_BETTER;
        }
        (void)canvas_puts(&pen, text);
        pen.role = (uint8_t)role;
        canvas_fill(&pen, ' ', 2);
    }
    if (role == ROLE_LIST_CURRENT) {
        canvas_fill_rest(&pen, ' ');
    }
}

static void panes_heads(const struct parts *parts, int y)
{
    const struct panel *list = &parts->app->list;
    struct canvas_pen pen = parts_pen(parts, y, ROLE_LIST_HEAD);
    for (int i = 0; i < list->column_count; i++) {
        const struct panel_column *column = &list->columns[i];
        int len = (int)strlen(column->header);
        bool sorted = i == list->sort;
        uint32_t way = list->ascending ? parts->glyphs->ascending : parts->glyphs->descending;
        if (column->type == PANEL_TEXT) {
            canvas_fill(&pen, ' ', 2);
            (void)canvas_puts(&pen, column->header);
            canvas_put(&pen, sorted ? way : ' ');
            continue;
        }
        canvas_fill(&pen, ' ', column->cols - len > 0 ? column->cols - len : 0);
        (void)canvas_puts(&pen, column->header);
        canvas_put(&pen, sorted ? way : ' ');
        canvas_put(&pen, ' ');
    }
}

/* "12.3 us ▁▂█▅▁ 1.20 ms   p50 ..." */
static void panes_bins(const struct parts *parts, int y)
{
    const struct panel *list = &parts->app->list;
    const struct spark_bins *bins = &list->bins;
    struct canvas_pen pen = parts_pen(parts, y, ROLE_DETAIL);
    char text[TIMEFMT_BYTES];
    (void)canvas_printf(&pen, "  %s ", timefmt_duration(bins->low, text));
    pen.role = ROLE_SPARK;
    for (int i = 0; i < bins->count; i++) {
        canvas_put(&pen, parts->glyphs->level[spark_level(bins->bin[i], bins->max)]);
    }
    pen.role = ROLE_DETAIL;
    (void)canvas_printf(&pen, " %s   %s", timefmt_duration(bins->high, text), list->caption);
}

/* The whole name where it has room, else the part that tells it from others. */
static void panes_note_name(const struct parts *parts, uint32_t index, int y, int lines)
{
    const struct trace_name *name = &parts->app->trace->names[index];
    struct canvas_pen pen = parts_pen(parts, y, ROLE_DETAIL);
    if (name->full_len > (size_t)lines * (size_t)parts->at->cols) {
        parts_name(parts, index, &pen);
    } else {
        (void)panes_wrap(parts, y, lines, ROLE_DETAIL, name->full, name->full_len);
    }
}

/* Below the lines: the text of the marked one, which a line has less room for, and what is said
 * about it. */
static void panes_note(const struct parts *parts, const struct panel_item *item, int y)
{
    int lines = parts->app->list.notes;
    int text_lines = item->note == NULL ? lines : lines / 2;
    if (item->name != TRACE_NONE) {
        panes_note_name(parts, item->name, y, text_lines);
    } else {
        (void)panes_wrap(parts, y, text_lines, ROLE_DETAIL, item->text, item->text_len);
    }
    if (item->note != NULL) {
        (void)panes_wrap(parts, y + text_lines, lines - text_lines, ROLE_STATUS_KEY, item->note,
                         item->note_len);
    }
}

void parts_panel(struct parts *parts)
{
    const struct panel *list = &parts->app->list;
    int y = parts->at->list_row;
    int room = parts->at->list_rows - panel_extra(list);
    char title[sizeof list->title + 32];
    (void)snprintf(title, sizeof title, "%s%s", list->title,
                   parts->app->list_filter != NULL ? "; lines that match" : "");
    panes_rule(parts, y++, title);
    if (list->bins.count > 0) {
        panes_bins(parts, y++);
    }
    if (list->count == 0) {
        struct canvas_pen pen = parts_pen(parts, y, ROLE_DIM);
        (void)canvas_puts(&pen, parts->app->list_filter != NULL ? "  no line matches"
                                                                : "  nothing in view");
        return;
    }
    panes_heads(parts, y++);
    if (list->notes > 0 && room > 0) {
        panes_note(parts, &list->items[list->current], y + room);
    }
    for (int line = 0; line < room; line++) {
        size_t at = list->first + (size_t)line;
        if (at >= list->count) {
            break;
        }
        panes_item(parts, &list->items[at], y + line,
                   at == list->current ? ROLE_LIST_CURRENT : ROLE_LIST);
    }
}
