/*
 * chrome: a capture as Chrome trace events in JSON, for Perfetto (ui.perfetto.dev) and other
 * viewers of that format.
 *
 * Each event is written once: ops of each stream under a process for its device, API calls, NVTX,
 * OS calls and overhead under their own process, open start/end ranges as async events, marks as
 * instants. A flow arrow leads from each launching call to each of its ops. Counters: busy share of
 * each device, launches per ms of each process. Where the capture has negative times all times are
 * moved to begin at 0; otherData.shift_ns says by how much.
 */
#ifndef CUTLINE_EXPORT_CHROME_H
#define CUTLINE_EXPORT_CHROME_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/facts/facts.h"
#include "analysis/table/table.h"

struct chrome_options {
    int64_t
        begin_ns; /* events that overlap [begin, end), not clipped; INT64_MIN, INT64_MAX = all */
    int64_t end_ns;
    bool flows;
    bool counters;
};

/* O(n). 0 or -1 (memory, or the sink stopped). */
int chrome_write(const struct facts *facts, const struct chrome_options *options,
                 const struct table_sink *sink, struct err *err);

#endif
