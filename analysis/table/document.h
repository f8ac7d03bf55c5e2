/*
 * document: tables as one JSON document, whatever their number:
 *
 *     {"schema":"cutline-tables","version":1,"producer":"cutline 0.1.0","tables":[
 *     {"name":"cuda_api_sum","title":"CUDA API Summary","time_unit":"ns","missing":null,
 *      "columns":["Time (%)",...],"rows":[{"Time (%)":12.5,...},...]},...]}
 *
 *     document_begin -> document_table... -> document_end
 */
#ifndef CUTLINE_TABLE_DOCUMENT_H
#define CUTLINE_TABLE_DOCUMENT_H

#include "analysis/table/table.h"

/* A table of a document. */
struct document_table {
    const struct table *table;
    const char *name;
    const char *missing; /* what the capture lacks for it; NULL = nothing */
    bool is_next; /* another one was written before it */
};

/* Each returns 0, or -1 where the sink stopped or there is no memory (err says). */
int document_begin(const struct table_sink *sink, struct err *err);
/* The format is JSON, whatever output says. */
int document_table(const struct document_table *entry, const struct table_output *output,
                   const struct table_sink *sink, struct err *err);
int document_end(const struct table_sink *sink, struct err *err);

#endif
