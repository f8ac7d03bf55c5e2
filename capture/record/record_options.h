/* Arguments of options of cutline record, as nsys profile takes them, to settings. Each returns 0,
 * or -1 with err saying which words there are. */
#ifndef CUTLINE_CAPTURE_RECORD_RECORD_OPTIONS_H
#define CUTLINE_CAPTURE_RECORD_RECORD_OPTIONS_H

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "capture/record/record_libraries.h"
#include "capture/spool/session.h"

/* Adds what was asked for and cannot be recorded to the list of it, once. */
void record_ignore(struct buf *ignored, const char *what);

/* --trace: "cuda,nvtx", "none", ...; what nsys can trace and we cannot is named in ignored. */
int record_parse_trace(const char *text, struct session_config *config,
                       struct record_libraries *libraries, struct buf *ignored, struct err *err);

/* --capture-range-end: none, stop, stop-shutdown, repeat[:N], repeat-shutdown:N, each with an
 * optional mode of nsys behind it (":sync"), which changes nothing here. *shutdown: end the command
 * as well. */
int record_parse_range_end(const char *text, struct session_config *config, bool *shutdown,
                           struct err *err);

/* --nvtx-capture: "range", "range@domain", "range@*". */
int record_parse_nvtx_capture(const char *text, struct session_config *config, struct err *err);

/* --nvtx-domain-include, --nvtx-domain-exclude: "a,b,default". */
int record_parse_domains(const char *text, enum session_domains mode, struct session_config *config,
                         struct err *err);

/* --cuda-graph-trace: "graph" or "node", with what nsys allows behind a colon. */
int record_parse_graph(const char *text, struct session_config *config, struct buf *ignored,
                       struct err *err);

/* --kill: none, sigterm, sigkill, sigint, a number. *signal is 0 for none. */
int record_parse_kill(const char *text, int *signal, struct err *err);

/* --api: all (or full), launch (or light), none. */
int record_parse_api(const char *text, struct session_config *config, struct err *err);

#endif
