/* kept: see kept.h. */
#include "viewer/cli/kept.h"

#include <stdlib.h>

#include "viewer/cli/cmd_view_run.h"
#include "viewer/cli/output.h"

void kept_configured(bool no_cache, const struct config *config, struct trace_options *options)
{
    options->keep_later = true;
    if (!no_cache && config->cache_mib > 0) {
        options->cache_events = config->cache_events > 0 ? config->cache_events : 1;
    }
    options->cache_mib = config->cache_mib;
}

void kept_options(bool no_cache, struct trace_options *options)
{
    struct config *config = calloc(1, sizeof *config);
    options->keep_later = true;
    /* Settings that cannot be read are the timeline's to tell of. */
    if (config != NULL && view_config(config, NULL) == 0) {
        kept_configured(no_cache, config, options);
    }
    free(config);
}

struct trace_keep *kept_begin(const struct trace *trace)
{
    return trace == NULL ? NULL : trace_keep_start(trace, NULL);
}

int kept_end(const char *command, struct trace_keep *keep)
{
    struct err err = {""};
    enum trace_kept state = trace_keep_end(keep, true, &err);
    if (state == TRACE_KEPT_NOT) {
        (void)err_prefix(&err, "nothing is kept for the next time (--no-cache: without this line)");
        output_error(command, &err);
    } else if (state == TRACE_KEPT_DAMAGED) {
        struct err told = {""};
        (void)err_set(&told, "%s and may be wrong above: run it again", err.text);
        output_error(command, &told);
    }
    return state == TRACE_KEPT_DAMAGED ? -1 : 0;
}
