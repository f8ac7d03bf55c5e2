/* What describes a process, for the converter: its texts, domains, clock anchors and statuses. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "capture/convert/convert_internal.h"
#include "capture/spool/cupti_abi.h"

enum {
    EVENT_DOMAIN = 75,
    SEVERITY_INFO = 1,
    SEVERITY_WARNING = 2,
    SEVERITY_ERROR = 3,
    OWN_CLOCK_NS = 1000000, /* CUPTI's clock is its own where it is that far off CLOCK_REALTIME */
    DOMAIN_MAX = 65536
};

static struct convert_process *process_of(struct convert *c, const struct convert_proc *proc)
{
    return &c->result->processes[proc->index];
}

/* ---- domains --------------------------------------------------------------------------------- */

/* The domain of that name in the process, made if needed; its wanted number is kept where it is
 * free. */
static struct convert_domain *domain_named(struct convert *c, uint32_t pid, uint32_t wanted,
                                           const char *name, size_t len)
{
    uint32_t next = 1;
    bool taken = false;
    for (size_t i = 0; i < c->domains_n; i++) {
        struct convert_domain *domain = &c->domains[i];
        if (domain->pid != pid) {
            continue;
        }
        if (domain->len == len && memcmp(domain->name, name, len) == 0) {
            return domain;
        }
        taken = taken || domain->id == wanted;
        next = domain->id >= next ? domain->id + 1 : next;
    }
    struct convert_domain *domains =
        array_grow(c->domains, &c->domains_cap, c->domains_n + 1, sizeof *domains);
    if (domains == NULL) {
        return NULL;
    }
    c->domains = domains;
    struct convert_domain *domain = &c->domains[c->domains_n];
    *domain = (struct convert_domain){.pid = pid,
                                      .id = taken ? next : wanted,
                                      .name = arena_copy(&c->arena, name, len),
                                      .len = len};
    c->domains_n += domain->name != NULL;
    return domain->name ? domain : NULL;
}

static int learn_domain(struct convert *c, struct convert_proc *proc, const struct spool_item *item,
                        struct err *err)
{
    uint32_t id = item->u.meta.head.domain;
    if (id == 0 || id >= DOMAIN_MAX) {
        return convert_lose(c, proc->index, CONVERT_FAULT("spool", "damaged", 1, CONVERT_NO_TIME),
                            err);
    }
    if (id >= proc->domains_n) {
        uint32_t *domains = array_resize(proc->domains, (size_t)id + 1, sizeof *domains);
        if (!domains) {
            return err_nomem(err, "domains");
        }
        for (uint32_t i = proc->domains_n; i <= id; i++) {
            domains[i] = i;
        }
        proc->domains = domains;
        proc->domains_n = id + 1;
    }
    struct convert_domain *domain =
        domain_named(c, proc->pid, id, item->u.meta.text, item->u.meta.head.text_bytes);
    if (!domain) {
        return err_nomem(err, "domains");
    }
    proc->domains[id] = domain->id;
    return 0;
}

static int domain_row(struct convert *c, struct convert_proc *proc, const struct spool_item *item,
                      struct err *err)
{
    uint32_t id = item->u.meta.head.domain;
    if (id == 0 || id >= proc->domains_n) {
        return 0;
    }
    for (size_t i = 0; i < c->domains_n; i++) {
        struct convert_domain *domain = &c->domains[i];
        if (domain->pid == proc->pid && domain->id == proc->domains[id]) {
            if (domain->written) {
                return 0;
            }
            domain->written = true;
            break;
        }
    }
    const struct convert_label label = {
        .domain = id, .text = item->u.meta.text, .len = item->u.meta.head.text_bytes};
    return convert_nvtx_name(c, proc, EVENT_DOMAIN, &label, err);
}

static const struct convert_domain *domain_by_id(const struct convert *c,
                                                 const struct convert_proc *proc, uint32_t id)
{
    uint32_t mapped = id < proc->domains_n ? proc->domains[id] : id;
    for (size_t i = 0; i < c->domains_n; i++) {
        if (c->domains[i].pid == proc->pid && c->domains[i].id == mapped) {
            return &c->domains[i];
        }
    }
    return NULL;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static int learn_anchor(struct convert *c, struct convert_proc *proc, const struct spool_item *item,
                        struct err *err)
{
    const uint64_t *value = item->u.meta.head.value;
    int64_t real = (int64_t)value[0];
    int64_t mono = (int64_t)value[1];
    int64_t cupti = (int64_t)value[3];
    int result = 0;
    if (real > 0 && mono > 0) {
        result |= clock_map_add(&c->real, real, mono);
    }
    if (value[2] && mono > 0) {
        result |= clock_map_add(&c->tsc, (int64_t)value[2], mono);
    }
    if (cupti > 0 && mono > 0) {
        int64_t off = cupti > real ? clock_off(cupti, real) : clock_off(real, cupti);
        proc->cupti_own_clock = proc->cupti_own_clock || off > OWN_CLOCK_NS;
        result |= clock_map_add(&proc->cupti, cupti, mono);
    }
    if (result < 0) {
        return err_nomem(err, "clocks");
    }
    return 0;
}

static int anchor_row(struct convert *c, const struct convert_proc *proc,
                      const struct spool_item *item, struct err *err)
{
    const uint64_t *value = item->u.meta.head.value;
    struct store_cell row[STORE_CUTLINE_CLOCK_N] = {
        [STORE_CUTLINE_CLOCK_GLOBAL_PID] = store_cell_int(proc->global_pid),
        [STORE_CUTLINE_CLOCK_SESSION] =
            store_cell_int(clock_off((int64_t)value[1], c->zero_mono_ns)),
        [STORE_CUTLINE_CLOCK_REALTIME_NS] = store_cell_int((int64_t)value[0]),
        [STORE_CUTLINE_CLOCK_MONOTONIC_NS] = store_cell_int((int64_t)value[1]),
    };
    if (value[2]) {
        row[STORE_CUTLINE_CLOCK_TSC] = store_cell_int((int64_t)value[2]);
    }
    if (value[3]) {
        row[STORE_CUTLINE_CLOCK_CUPTI_NS] = store_cell_int((int64_t)value[3]);
    }
    return store_writer_row(c->writer, STORE_TABLE_CUTLINE_CLOCK, row, err);
}

/* ---- statuses -------------------------------------------------------------------------------- */

/* The text of a failing CUPTI call: what it means where that is known. */
static void failure_text(uint32_t result, const char *function, struct buf *out)
{
    switch (result) {
    case CUPTI_RESULT_INSUFFICIENT_PRIVILEGES:
    case CUPTI_RESULT_VIRTUALIZED_INSUFFICIENT_PRIVILEGES:
        buf_addf(out,
                 "no permission to record GPU activity (CUPTI result %" PRIu32
                 "): run as root, start the container with --cap-add SYS_ADMIN, or load the "
                 "driver with NVreg_RestrictProfilingToAdminUsers=0",
                 result);
        break;
    case CUPTI_RESULT_NOT_INITIALIZED:
        buf_addf(out,
                 "CUPTI is newer than the driver (result %" PRIu32
                 " of %s): GPU activity is not recorded; update the driver, or name an older "
                 "libcupti with --cupti",
                 result, function);
        break;
    default:
        buf_addf(out, "%s failed with CUPTI result %" PRIu32, function, result);
        break;
    }
}

/* What a status says, for a person; "" where it says nothing worth telling. Returns its severity.
 */
static int status_text(const struct spool_item *item, struct buf *out)
{
    const struct spool_meta *head = &item->u.meta.head;
    int len = (int)head->text_bytes;
    const char *text = item->u.meta.text;
    char function[128];
    (void)snprintf(function, sizeof function, "%.*s", len, text ? text : "");
    buf_reset(out);
    switch (head->code) {
    case SPOOL_STATUS_CUPTI_FOUND:
        buf_addf(out, "CUPTI %" PRIu64 ": %.*s", head->value[0], len, text);
        return SEVERITY_INFO;
    case SPOOL_STATUS_CUPTI_PASSED_OVER:
        buf_addf(out, "CUPTI %" PRIu64 " is newer than the driver: %.*s", head->value[0], len,
                 text);
        return SEVERITY_INFO;
    case SPOOL_STATUS_CUPTI_NOT_FOUND:
        buf_adds(out, "libcupti was not found: GPU activity is not recorded; name it with --cupti");
        return SEVERITY_ERROR;
    case SPOOL_STATUS_CUPTI_FAILED:
        failure_text((uint32_t)head->value[0], function, out);
        return SEVERITY_ERROR;
    case SPOOL_STATUS_CUPTI_NO_DRIVER:
        buf_addf(out, "no usable CUDA driver (CUPTI result %" PRIu64 " of %s)", head->value[0],
                 function);
        return SEVERITY_ERROR;
    case SPOOL_STATUS_CUPTI_BUSY:
        buf_addf(out, "another CUPTI client is active%s%s%s: GPU activity is not recorded, NVTX is",
                 len ? " (" : "", function, len ? ")" : "");
        return SEVERITY_ERROR;
    case SPOOL_STATUS_CUPTI_INTERFERED:
        if (head->value[0] == SPOOL_RIVAL_FOREIGN_BUFFER) {
            buf_adds(out, "another profiler in the program uses CUPTI: a buffer of its came to the "
                          "recorder, and what is in it is missing");
        } else {
            buf_addf(out, "another profiler in the program%s%s%s took CUPTI's buffers over",
                     len ? " (" : "", function, len ? ")" : "");
        }
        return SEVERITY_WARNING;
    case SPOOL_STATUS_THREAD_FAILED:
        buf_adds(out, "the recorder's thread could not be started: what was not delivered at the "
                      "end is missing");
        return SEVERITY_WARNING;
    case SPOOL_STATUS_FLUSH_FAILED:
        buf_addf(out, "flushing CUPTI failed with result %" PRIu64, head->value[0]);
        return SEVERITY_WARNING;
    case SPOOL_STATUS_FORKED:
        buf_addf(out, "forked from %" PRIu64 " without exec: CUDA is not recorded in it",
                 head->value[0]);
        return SEVERITY_INFO;
    case SPOOL_STATUS_STATE:
        buf_addf(out, "CUPTI reports: %s (result %" PRIu64 ")", function, head->value[1]);
        return head->value[0] == CUPTI_ID_STATE_WARNING ? SEVERITY_WARNING : SEVERITY_ERROR;
    default:
        return SEVERITY_INFO;
    }
}

static void learn_range(struct convert *c, const struct convert_proc *proc,
                        const struct spool_item *item)
{
    struct convert_result *result = c->result;
    const struct convert_domain *domain = domain_by_id(c, proc, item->u.meta.head.domain);
    struct convert_range range = {{0}, {0}};
    struct store_cell text =
        convert_text(&c->scratch, item->u.meta.text, item->u.meta.head.text_bytes);
    (void)snprintf(range.text, sizeof range.text, "%.*s", (int)text.len, text.as.s);
    if (domain) {
        (void)snprintf(range.domain, sizeof range.domain, "%.*s", (int)domain->len, domain->name);
    }
    for (size_t i = 0; i < result->ranges_n; i++) {
        if (strcmp(result->ranges[i].text, range.text) == 0 &&
            strcmp(result->ranges[i].domain, range.domain) == 0) {
            return;
        }
    }
    if (!result->ranges) {
        result->ranges = calloc(CONVERT_RANGES_MAX, sizeof *result->ranges);
    }
    if (result->ranges && result->ranges_n < CONVERT_RANGES_MAX) {
        result->ranges[result->ranges_n++] = range;
    }
}

static void learn_status(struct convert *c, struct convert_proc *proc,
                         const struct spool_item *item)
{
    const struct spool_meta *head = &item->u.meta.head;
    struct convert_process *process = process_of(c, proc);
    switch (head->code) {
    case SPOOL_STATUS_ATTACHED_CUDA:
        process->cuda_attached = true;
        break;
    case SPOOL_STATUS_ATTACHED_NVTX:
        process->nvtx_attached = true;
        break;
    case SPOOL_STATUS_CUPTI_FOUND:
        process->cupti_version = (uint32_t)head->value[0];
        break;
    case SPOOL_STATUS_CUPTI_ACTIVE:
        process->cupti_active = true;
        break;
    case SPOOL_STATUS_CUPTI_FAILED:
    case SPOOL_STATUS_CUPTI_NO_DRIVER:
        process->cupti_result =
            process->cupti_result ? process->cupti_result : (uint32_t)head->value[0];
        break;
    case SPOOL_STATUS_CUPTI_INTERFERED:
        if (head->value[0] != SPOOL_RIVAL_FOREIGN_BUFFER && proc->rival == SPOOL_RIVAL_NONE) {
            proc->rival = (uint32_t)head->value[0];
            proc->rival_ns = clock_off((int64_t)head->value[3], c->zero_mono_ns);
            proc->rival_counted = head->value[1] != 0;
            (void)snprintf(proc->rival_name, sizeof proc->rival_name, "%.*s", (int)head->text_bytes,
                           (const char *)item->u.meta.text);
        }
        break;
    case SPOOL_STATUS_COST:
        process->recorder_ns = (int64_t)head->value[0];
        break;
    case SPOOL_STATUS_RANGE_EARLY:
        c->result->range_early = true;
        break;
    case SPOOL_STATUS_RANGE_SEEN:
        learn_range(c, proc, item);
        break;
    default:
        break;
    }
    int severity = status_text(item, &c->scratch2);
    if (severity >= SEVERITY_WARNING && !*process->note) {
        (void)snprintf(process->note, sizeof process->note, "%s", buf_text(&c->scratch2));
    }
}

static int status_row(struct convert *c, const struct convert_proc *proc,
                      const struct spool_item *item, struct err *err)
{
    uint16_t code = item->u.meta.head.code;
    if (code >= SPOOL_STATUS_GRAPH && code <= SPOOL_STATUS_GRAPH_NODE) {
        return convert_graph_row(c, proc, item, err);
    }
    int severity = status_text(item, &c->scratch2);
    if (c->scratch2.len == 0) {
        return 0;
    }
    struct store_cell text = convert_text(&c->scratch, c->scratch2.data, c->scratch2.len);
    struct store_cell row[STORE_DIAGNOSTIC_N] = {
        [STORE_DIAGNOSTIC_TIMESTAMP] =
            store_cell_int(clock_off((int64_t)item->u.meta.head.value[3], c->zero_mono_ns)),
        [STORE_DIAGNOSTIC_TIMESTAMP_TYPE] = store_cell_int(1),
        [STORE_DIAGNOSTIC_SOURCE] = store_cell_int(1),
        [STORE_DIAGNOSTIC_SEVERITY] = store_cell_int(severity),
        [STORE_DIAGNOSTIC_TEXT] = text,
        [STORE_DIAGNOSTIC_GLOBAL_PID] = store_cell_int(proc->global_pid),
    };
    return store_writer_row(c->writer, STORE_TABLE_DIAGNOSTIC, row, err);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Names that NVTX gave to a device, context or stream. */
static int resource_row(struct convert *c, const struct convert_proc *proc,
                        const struct spool_item *item, struct err *err)
{
    const struct spool_meta *head = &item->u.meta.head;
    struct store_cell name = convert_text(&c->scratch, item->u.meta.text, head->text_bytes);
    if (head->code == SPOOL_RESOURCE_CU_DEVICE || head->code == SPOOL_RESOURCE_CUDA_DEVICE) {
        struct store_cell row[STORE_NVTX_DEVICE_N] = {
            [STORE_NVTX_DEVICE_NAME] = name,
            [STORE_NVTX_DEVICE_HW_ID] = store_cell_int(0),
            [STORE_NVTX_DEVICE_VM_ID] = store_cell_int(1),
            [STORE_NVTX_DEVICE_DEVICE_ID] = store_cell_int((int64_t)head->value[0]),
        };
        return store_writer_row(c->writer, STORE_TABLE_NVTX_DEVICE, row, err);
    }
    if (head->value[1] == UINT64_MAX) {
        return 0;
    }
    if (head->code == SPOOL_RESOURCE_CU_CONTEXT) {
        struct store_cell row[STORE_NVTX_CONTEXT_N] = {
            [STORE_NVTX_CONTEXT_NAME] = name,
            [STORE_NVTX_CONTEXT_HW_ID] = store_cell_int(0),
            [STORE_NVTX_CONTEXT_VM_ID] = store_cell_int(1),
            [STORE_NVTX_CONTEXT_PROCESS_ID] = store_cell_int(proc->pid),
            [STORE_NVTX_CONTEXT_DEVICE_ID] =
                store_cell_int(convert_context_device(proc, (uint32_t)head->value[1])),
            [STORE_NVTX_CONTEXT_CONTEXT_ID] = store_cell_int((int64_t)head->value[1]),
        };
        return store_writer_row(c->writer, STORE_TABLE_NVTX_CONTEXT, row, err);
    }
    if (head->code == SPOOL_RESOURCE_CU_STREAM || head->code == SPOOL_RESOURCE_CUDA_STREAM) {
        uint64_t context = head->value[2] == UINT64_MAX ? 0 : head->value[2];
        struct store_cell row[STORE_NVTX_STREAM_N] = {
            [STORE_NVTX_STREAM_NAME] = name,
            [STORE_NVTX_STREAM_HW_ID] = store_cell_int(0),
            [STORE_NVTX_STREAM_VM_ID] = store_cell_int(1),
            [STORE_NVTX_STREAM_PROCESS_ID] = store_cell_int(proc->pid),
            [STORE_NVTX_STREAM_DEVICE_ID] =
                store_cell_int(convert_context_device(proc, (uint32_t)context)),
            [STORE_NVTX_STREAM_CONTEXT_ID] = store_cell_int((int64_t)context),
            [STORE_NVTX_STREAM_STREAM_ID] = store_cell_int((int64_t)head->value[1]),
        };
        return store_writer_row(c->writer, STORE_TABLE_NVTX_STREAM, row, err);
    }
    return 0;
}

/* ---- payload schemas ------------------------------------------------------------------------- */

/* "FLAGS TYPE DETAIL OFFSET NAME", the numbers in hexadecimal (capture/README.md). */
static int schema_entry_row(struct convert *c, const struct store_cell ids[2], int64_t index,
                            char *line, struct err *err)
{
    int64_t numbers[4] = {0, 0, 0, 0};
    char *at = line;
    for (int i = 0; i < 4; i++) {
        numbers[i] = (int64_t)strtoull(at, &at, 16);
    }
    at += *at == ' ';
    struct store_cell row[STORE_NVTX_SCHEMA_ENTRIES_N] = {
        [STORE_NVTX_SCHEMA_ENTRIES_DOMAIN_ID] = ids[0],
        [STORE_NVTX_SCHEMA_ENTRIES_SCHEMA_ID] = ids[1],
        [STORE_NVTX_SCHEMA_ENTRIES_IDX] = store_cell_int(index),
        [STORE_NVTX_SCHEMA_ENTRIES_FLAGS] = store_cell_int(numbers[0]),
        [STORE_NVTX_SCHEMA_ENTRIES_TYPE] = store_cell_int(numbers[1]),
        [STORE_NVTX_SCHEMA_ENTRIES_NAME] = convert_text(&c->scratch, at, strlen(at)),
        [STORE_NVTX_SCHEMA_ENTRIES_ARRAY_OR_UNION_DETAIL] = store_cell_int(numbers[2]),
        [STORE_NVTX_SCHEMA_ENTRIES_OFFSET] = store_cell_int(numbers[3]),
    };
    return store_writer_row(c->writer, STORE_TABLE_NVTX_SCHEMA_ENTRIES, row, err);
}

static int schema_rows(struct convert *c, const struct convert_proc *proc,
                       const struct spool_item *item, struct err *err)
{
    const struct spool_meta *head = &item->u.meta.head;
    uint32_t domain = head->domain < proc->domains_n ? proc->domains[head->domain] : head->domain;
    const struct store_cell ids[2] = {store_cell_int(domain),
                                      store_cell_int((int64_t)head->value[0])};
    char *text = arena_copy(&c->arena, item->u.meta.text, head->text_bytes);
    int64_t entries = 0;
    if (!text) {
        return err_nomem(err, "payload schemas");
    }
    char *line = strchr(text, '\n');
    size_t name_len = line ? (size_t)(line - text) : strlen(text);
    while (line && line[1]) {
        char *next = strchr(line + 1, '\n');
        if (next) {
            *next = '\0';
        }
        if (schema_entry_row(c, ids, entries++, line + 1, err) < 0) {
            return -1;
        }
        line = next;
    }
    struct store_cell row[STORE_NVTX_SCHEMAS_N] = {
        [STORE_NVTX_SCHEMAS_DOMAIN_ID] = ids[0],
        [STORE_NVTX_SCHEMAS_SCHEMA_ID] = ids[1],
        [STORE_NVTX_SCHEMAS_NAME] = convert_text(&c->scratch, text, name_len),
        [STORE_NVTX_SCHEMAS_NUM_ENTRIES] = store_cell_int(entries),
        [STORE_NVTX_SCHEMAS_PAYLOAD_SIZE] = store_cell_int((int64_t)head->value[1]),
    };
    return store_writer_row(c->writer, STORE_TABLE_NVTX_SCHEMAS, row, err);
}

/* ---- items ----------------------------------------------------------------------------------- */

/* What a loss is of: a kind of CUPTI's, or ours. */
static const char *loss_kind(uint32_t kind)
{
    if (kind == SPOOL_LOSS_OF_NVTX) {
        return "NVTX";
    }
    return kind == SPOOL_LOSS_OF_NAMES ? "names" : convert_cupti_kind(kind);
}

static int learn_loss(struct convert *c, struct convert_proc *proc, const struct spool_item *item,
                      struct err *err)
{
    uint32_t reason = item->u.loss.reason;
    const char *kind = loss_kind(item->u.loss.kind);
    const char *name = spool_loss_name(reason);
    int result = 0;
    if (item->u.loss.last_mono_ns > proc->last_loss_mono_ns) {
        proc->last_loss_mono_ns = item->u.loss.last_mono_ns;
    }
    if (item->u.loss.first_mono_ns > 0) {
        result = convert_lose(
            c, proc->index,
            CONVERT_FAULT(kind, name, 0, clock_off(item->u.loss.first_mono_ns, c->zero_mono_ns)),
            err);
    }
    if (result == 0) {
        int64_t last = item->u.loss.last_mono_ns;
        result = convert_lose(
            c, proc->index,
            CONVERT_FAULT(kind, name, item->u.loss.count,
                          last > 0 ? clock_off(last, c->zero_mono_ns) : CONVERT_NO_TIME),
            err);
    }
    if (result == 0) {
        convert_harmless(c, proc->index, kind, name,
                         reason == SPOOL_LOSS_OUTSIDE_RANGE || reason == SPOOL_LOSS_API_FILTERED);
    }
    return result;
}

int convert_meta_learn(struct convert *c, struct convert_proc *proc, const struct spool_item *item,
                       struct err *err)
{
    if (item->kind == SPOOL_ITEM_LOSS) {
        return learn_loss(c, proc, item, err);
    }
    switch (item->u.meta.head.kind) {
    case SPOOL_META_STRING:
        return convert_string_add(c, proc, item, err);
    case SPOOL_META_DOMAIN:
        return learn_domain(c, proc, item, err);
    case SPOOL_META_CATEGORY:
    case SPOOL_META_THREAD:
    case SPOOL_META_OS_THREAD:
    case SPOOL_META_COMMAND:
        return convert_name_learn(proc, item, err);
    case SPOOL_META_JOB:
        convert_job_learn(proc, item);
        return 0;
    case SPOOL_META_ANCHOR:
        return learn_anchor(c, proc, item, err);
    case SPOOL_META_STATUS:
        learn_status(c, proc, item);
        if (item->u.meta.head.code == SPOOL_STATUS_RANGE_OPENED ||
            item->u.meta.head.code == SPOOL_STATUS_RANGE_CLOSED) {
            return convert_range_learn(c, proc, &item->u.meta.head, err);
        }
        return convert_graph_learn(proc, item, err);
    case SPOOL_META_CUPTI_RECORD:
        return convert_cupti_learn(c, proc, (uint32_t)item->u.meta.head.value[0], item->u.meta.text,
                                   item->u.meta.head.text_bytes, err);
    default:
        return 0;
    }
}

int convert_meta_rows(struct convert *c, struct convert_proc *proc, const struct spool_item *item,
                      struct err *err)
{
    if (item->kind == SPOOL_ITEM_LOSS) {
        return 0;
    }
    switch (item->u.meta.head.kind) {
    case SPOOL_META_DOMAIN:
        return domain_row(c, proc, item, err);
    case SPOOL_META_RESOURCE:
        return resource_row(c, proc, item, err);
    case SPOOL_META_SCHEMA:
        return schema_rows(c, proc, item, err);
    case SPOOL_META_ANCHOR:
        return anchor_row(c, proc, item, err);
    case SPOOL_META_STATUS:
        return status_row(c, proc, item, err);
    case SPOOL_META_CUPTI_RECORD:
        return convert_cupti_describe(c, proc, (uint32_t)item->u.meta.head.value[0],
                                      item->u.meta.text, item->u.meta.head.text_bytes, err);
    default:
        return 0;
    }
}
