/* document: see document.h. */
#include "analysis/table/document.h"

#include <string.h>

#include "analysis/table/json.h"

/* Writes what text holds and frees it. */
static int write_text(struct buf *text, const struct table_sink *sink, struct err *err)
{
    int rc = 0;
    if (buf_failed(text)) {
        rc = err_nomem(err, "the document");
    } else if (sink->write(sink->arg, buf_text(text), text->len) != 0) {
        rc = err_set(err, "cannot write the document");
    }
    buf_free(text);
    return rc;
}

int document_begin(const struct table_sink *sink, struct err *err)
{
    struct buf text = {0};
    json_head(&text, "cutline-tables", 1);
    buf_adds(&text, ",\"tables\":[\n");
    return write_text(&text, sink, err);
}

/* The members before the rows. */
static void add_entry(const struct document_table *entry, int64_t time_unit_ns, struct buf *out)
{
    const struct table *table = entry->table;
    struct buf header = {0};
    buf_adds(out, entry->is_next ? ",{\"name\":" : "{\"name\":");
    json_text(out, entry->name, strlen(entry->name));
    buf_adds(out, ",\"title\":");
    json_text(out, table_title(table), strlen(table_title(table)));
    buf_addf(out, ",\"time_unit\":\"%s\",\"missing\":", table_unit_name(time_unit_ns));
    if (entry->missing != NULL) {
        json_text(out, entry->missing, strlen(entry->missing));
    } else {
        buf_adds(out, "null");
    }
    buf_adds(out, ",\"columns\":");
    for (int i = 0; i < table_columns(table); i++) {
        buf_reset(&header);
        table_header(table, i, time_unit_ns, &header);
        buf_addc(out, i == 0 ? '[' : ',');
        json_text(out, buf_text(&header), header.len);
        out->failed = out->failed || buf_failed(&header);
    }
    buf_adds(out, "],\"rows\":");
    buf_free(&header);
}

int document_table(const struct document_table *entry, const struct table_output *output,
                   const struct table_sink *sink, struct err *err)
{
    struct table_output how = *output;
    struct buf text = {0};
    how.format = TABLE_FORMAT_JSON;
    add_entry(entry, how.time_unit_ns, &text);
    if (write_text(&text, sink, err) != 0 || table_write(entry->table, &how, sink, err) != 0) {
        return -1;
    }
    buf_adds(&text, "}\n");
    return write_text(&text, sink, err);
}

int document_end(const struct table_sink *sink, struct err *err)
{
    struct buf text = {0};
    buf_adds(&text, "]}\n");
    return write_text(&text, sink, err);
}
