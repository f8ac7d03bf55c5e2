/* NVTX for the converter: push with pop, start with end, marks and names, to rows of NVTX_EVENTS.
 *
 * Push and pop pair on a stack for each thread and domain (NVTX specification), by the level that the
 * recorder wrote, so that one that is missing does not pair its neighbours wrongly; a stack is a byte
 * string of entries with their texts, so a push and a pop cost a copy each and no allocation. Start
 * and end pair by the range id in a hash table, across threads and in any order of arrival. What is
 * open at the end of a process has no end; a pop or an end without its beginning is counted. */
#include <stdlib.h>
#include <string.h>

#include "capture/convert/convert_internal.h"

enum {
    EVENT_CATEGORY = 33,
    EVENT_MARK = 34,
    EVENT_PUSH_POP = 59,
    EVENT_START_END = 60,
    EVENT_DOMAIN = 75,
    PAYLOAD_UINT64 = 1,
    PAYLOAD_INT64 = 2,
    PAYLOAD_DOUBLE = 3,
    PAYLOAD_UINT32 = 4,
    PAYLOAD_INT32 = 5,
    PAYLOAD_FLOAT = 6,
    NAME_THREAD = 39,
    BLOB_HEAD = 32, /* bytes before an extended payload: domain, schema, size, offset */
};

/* A row on its way: the blob and then the text follow. */
struct nvtx_row {
    int64_t start;
    int64_t end;
    uint64_t payload;
    uint64_t range;
    uint64_t string;
    uint64_t schema;
    uint32_t proc;
    uint32_t tid;
    uint32_t end_tid;
    uint32_t domain; /* of the file */
    uint32_t color;
    uint32_t category;
    uint32_t blob_bytes;
    uint32_t text_bytes;
    uint8_t type; /* event type */
    uint8_t flags; /* SPOOL_NVTX_* */
    uint8_t payload_type;
    uint8_t color_type;
    bool ended;
    uint8_t pad;
    uint16_t level; /* of a push: ranges that are open with it; 0: not known */
};

/* The open ranges of one thread in one domain, the innermost last. */
struct stack {
    uint32_t tid; /* 0: the slot is free */
    uint32_t domain;
    struct buf rows; /* rows with their texts, each followed by its size (size_t) */
};

/* A start that waits for its end, or an end that came first (row.start is then not known). */
struct waiting {
    uint64_t range;
    bool used;
    bool is_end;
    struct nvtx_row row;
    char *tail; /* blob and text; owned */
};

struct convert_pairs {
    struct convert *c;
    struct convert_proc *proc;
    struct sorter *sorter; /* where the records are not in order: they wait here */
    struct stack *stacks;
    size_t stacks_n; /* used */
    size_t stacks_cap; /* a power of two */
    struct stack *last;
    struct waiting *waiting;
    size_t waiting_n;
    size_t waiting_cap;
};

struct convert_pairs *convert_pairs_new(struct convert *c, struct convert_proc *proc)
{
    struct convert_pairs *pairs = calloc(1, sizeof *pairs);
    if (!pairs) {
        return NULL;
    }
    pairs->c = c;
    pairs->proc = proc;
    return pairs;
}

void convert_pairs_free(struct convert_pairs *pairs)
{
    if (!pairs) {
        return;
    }
    for (size_t i = 0; i < pairs->stacks_cap; i++) {
        buf_free(&pairs->stacks[i].rows);
    }
    for (size_t i = 0; i < pairs->waiting_cap; i++) {
        free(pairs->waiting[i].tail);
    }
    sorter_free(pairs->sorter);
    free(pairs->stacks);
    free(pairs->waiting);
    free(pairs);
}

/* ---- rows to the sorter ---------------------------------------------------------------------- */

static int emit(struct convert_pairs *pairs, const struct nvtx_row *row, const void *tail,
                struct err *err)
{
    struct convert_process *process = &pairs->c->result->processes[pairs->proc->index];
    process->nvtx++;
    process->open_ranges += row->type != EVENT_MARK && !row->ended;
    return sorter_add(pairs->c->sorters[CONVERT_NVTX], row->start, SORTER_PART(row, sizeof *row),
                      SORTER_PART(tail, (size_t)row->blob_bytes + row->text_bytes), err);
}

/* The blob and the text of an item, one behind the other as a row has them; valid until the scratch
 * is used again. NULL: no memory. */
static const char *tail_of(struct convert_pairs *pairs, const struct spool_item *item,
                           struct err *err)
{
    struct buf *scratch = &pairs->c->scratch;
    buf_reset(scratch);
    buf_add(scratch, item->u.nvtx.blob, item->u.nvtx.blob_bytes);
    buf_add(scratch, item->u.nvtx.text, item->u.nvtx.text_bytes);
    if (buf_failed(scratch)) {
        (void)err_nomem(err, "NVTX ranges");
        return NULL;
    }
    return buf_text(scratch);
}

/* ---- push and pop ---------------------------------------------------------------------------- */

static struct stack *stack_slot(struct stack *stacks, size_t cap, uint32_t tid, uint32_t domain)
{
    size_t at = ((size_t)tid * 0x9E3779B1U ^ (size_t)domain * 0x85EBCA6BU) & (cap - 1);
    while (stacks[at].tid && (stacks[at].tid != tid || stacks[at].domain != domain)) {
        at = (at + 1) & (cap - 1);
    }
    return &stacks[at];
}

static int grow_stacks(struct convert_pairs *pairs)
{
    size_t cap = pairs->stacks_cap ? pairs->stacks_cap * 2 : 64;
    struct stack *stacks = calloc(cap, sizeof *stacks);
    if (!stacks) {
        return -1;
    }
    for (size_t i = 0; i < pairs->stacks_cap; i++) {
        struct stack *old = &pairs->stacks[i];
        if (old->tid) {
            *stack_slot(stacks, cap, old->tid, old->domain) = *old;
        }
    }
    free(pairs->stacks);
    pairs->stacks = stacks;
    pairs->stacks_cap = cap;
    pairs->last = NULL;
    return 0;
}

/* The stack of a thread and domain, made if needed; NULL: no memory. Thread 0 is no thread. */
static struct stack *stack_of(struct convert_pairs *pairs, uint32_t tid, uint32_t domain)
{
    tid = tid ? tid : pairs->proc->pid;
    if (pairs->last && pairs->last->tid == tid && pairs->last->domain == domain) {
        return pairs->last;
    }
    if (pairs->stacks_n * 2 >= pairs->stacks_cap && grow_stacks(pairs) < 0) {
        return NULL;
    }
    struct stack *stack = stack_slot(pairs->stacks, pairs->stacks_cap, tid, domain);
    if (!stack->tid) {
        stack->tid = tid;
        stack->domain = domain;
        pairs->stacks_n++;
    }
    pairs->last = stack;
    return stack;
}

/* Takes the innermost row off; its tail is left in the buffer behind it. Returns the tail, NULL
 * where the stack is empty. */
static const char *take(struct stack *stack, struct nvtx_row *row)
{
    size_t size;
    if (stack->rows.len == 0) {
        return NULL;
    }
    memcpy(&size, stack->rows.data + stack->rows.len - sizeof size, sizeof size);
    stack->rows.len -= size + sizeof size;
    memcpy(row, stack->rows.data + stack->rows.len, sizeof *row);
    return stack->rows.data + stack->rows.len + sizeof *row;
}

/* Puts the row back that was taken last. */
static void put_back(struct stack *stack, const struct nvtx_row *row)
{
    stack->rows.len += sizeof *row + row->blob_bytes + row->text_bytes + sizeof(size_t);
}

/* Ends what must have ended before a range of LEVEL could begin or end: its own end was lost. */
static int end_above(struct convert_pairs *pairs, struct stack *stack, uint16_t level, int64_t time,
                     struct err *err)
{
    struct nvtx_row row;
    const char *tail = take(stack, &row);
    for (; tail != NULL && row.level > level; tail = take(stack, &row)) {
        if (emit(pairs, &row, tail, err) < 0 ||
            convert_lose(pairs->c, pairs->proc->index,
                         CONVERT_FAULT("NVTX", "end of a range", 1, time), err) < 0) {
            return -1;
        }
        pairs->c->result->processes[pairs->proc->index].open_ranges--;
    }
    if (tail != NULL) {
        put_back(stack, &row);
    }
    return 0;
}

static int push(struct convert_pairs *pairs, struct stack *stack, const struct nvtx_row *row,
                const struct spool_item *item, struct err *err)
{
    size_t size = sizeof *row + row->blob_bytes + row->text_bytes;
    if (row->level != 0 &&
        end_above(pairs, stack, (uint16_t)(row->level - 1), row->start, err) < 0) {
        return -1;
    }
    buf_add(&stack->rows, row, sizeof *row);
    buf_add(&stack->rows, item->u.nvtx.blob, row->blob_bytes);
    buf_add(&stack->rows, item->u.nvtx.text, row->text_bytes);
    buf_add(&stack->rows, &size, sizeof size);
    return buf_failed(&stack->rows) ? err_nomem(err, "NVTX ranges") : 0;
}

/* Ends the innermost range; where the record knows its level, the one of that level. */
static int pop(struct convert_pairs *pairs, struct stack *stack, uint16_t level, int64_t time,
               struct err *err)
{
    struct nvtx_row row;
    bool known = level != 0 && level != SPOOL_LEVEL_NONE;
    if (known && end_above(pairs, stack, level, time, err) < 0) {
        return -1;
    }
    const char *tail = level == SPOOL_LEVEL_NONE ? NULL : take(stack, &row);
    if (tail != NULL && known && row.level < level && row.level != 0) {
        put_back(stack, &row);
        tail = NULL;
    }
    if (tail == NULL) {
        return convert_lose(pairs->c, pairs->proc->index,
                            CONVERT_FAULT("NVTX", "pop without a push", 1, time), err);
    }
    row.end = time > row.start ? time : row.start;
    row.ended = true;
    return emit(pairs, &row, tail, err);
}

/* ---- start and end --------------------------------------------------------------------------- */

static struct waiting *waiting_slot(struct waiting *table, size_t cap, uint64_t range)
{
    size_t at = (size_t)(range * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (cap - 1);
    while (table[at].used && table[at].range != range) {
        at = (at + 1) & (cap - 1);
    }
    return &table[at];
}

static int grow_waiting(struct convert_pairs *pairs)
{
    size_t cap = pairs->waiting_cap ? pairs->waiting_cap * 2 : 64;
    struct waiting *table = calloc(cap, sizeof *table);
    if (!table) {
        return -1;
    }
    for (size_t i = 0; i < pairs->waiting_cap; i++) {
        if (pairs->waiting[i].used) {
            *waiting_slot(table, cap, pairs->waiting[i].range) = pairs->waiting[i];
        }
    }
    free(pairs->waiting);
    pairs->waiting = table;
    pairs->waiting_cap = cap;
    return 0;
}

/* Frees a slot and closes the gap (Knuth, volume 3, 6.4, algorithm R). */
static void drop_waiting(struct convert_pairs *pairs, struct waiting *slot)
{
    size_t mask = pairs->waiting_cap - 1;
    size_t gap = (size_t)(slot - pairs->waiting);
    free(slot->tail);
    for (size_t at = (gap + 1) & mask; pairs->waiting[at].used; at = (at + 1) & mask) {
        size_t home =
            (size_t)(pairs->waiting[at].range * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            pairs->waiting[gap] = pairs->waiting[at];
            gap = at;
        }
    }
    pairs->waiting[gap] = (struct waiting){0};
    pairs->waiting_n--;
}

static int keep_waiting(struct convert_pairs *pairs, struct waiting *slot,
                        const struct nvtx_row *row, const struct spool_item *item, bool is_end,
                        struct err *err)
{
    char *tail = malloc((size_t)row->blob_bytes + row->text_bytes + 1);
    if (!tail) {
        return err_nomem(err, "NVTX ranges");
    }
    if (row->blob_bytes) {
        memcpy(tail, item->u.nvtx.blob, row->blob_bytes);
    }
    if (row->text_bytes) {
        memcpy(tail + row->blob_bytes, item->u.nvtx.text, row->text_bytes);
    }
    *slot = (struct waiting){
        .range = row->range, .used = true, .is_end = is_end, .row = *row, .tail = tail};
    pairs->waiting_n++;
    return 0;
}

static int close_range(struct convert_pairs *pairs, struct nvtx_row *row, const void *tail,
                       const struct nvtx_row *end, struct err *err)
{
    row->end = end->start > row->start ? end->start : row->start;
    row->end_tid = end->tid;
    row->ended = true;
    return emit(pairs, row, tail, err);
}

static int start_or_end(struct convert_pairs *pairs, struct nvtx_row *row,
                        const struct spool_item *item, bool is_end, struct err *err)
{
    if (pairs->waiting_n * 2 >= pairs->waiting_cap && grow_waiting(pairs) < 0) {
        return err_nomem(err, "NVTX ranges");
    }
    struct waiting *slot = waiting_slot(pairs->waiting, pairs->waiting_cap, row->range);
    if (!slot->used) {
        return keep_waiting(pairs, slot, row, item, is_end, err);
    }
    if (slot->is_end == is_end) {
        return convert_lose(pairs->c, pairs->proc->index,
                            CONVERT_FAULT("NVTX", "range id used twice", 1, row->start), err);
    }
    int result;
    if (is_end) {
        result = close_range(pairs, &slot->row, slot->tail, row, err);
    } else {
        const char *tail = tail_of(pairs, item, err);
        result = tail == NULL ? -1 : close_range(pairs, row, tail, &slot->row, err);
    }
    drop_waiting(pairs, slot);
    return result;
}

/* ---- records --------------------------------------------------------------------------------- */

static uint32_t domain_of(const struct convert_proc *proc, uint32_t domain)
{
    return domain < proc->domains_n ? proc->domains[domain] : domain;
}

static void fill_row(struct convert_pairs *pairs, const struct spool_item *item,
                     struct nvtx_row *row)
{
    static const uint8_t types[SPOOL_NVTX_TYPES] = {
        [SPOOL_NVTX_PUSH] = EVENT_PUSH_POP,
        [SPOOL_NVTX_START] = EVENT_START_END,
        [SPOOL_NVTX_END] = EVENT_START_END,
        [SPOOL_NVTX_MARK] = EVENT_MARK,
    };
    *row = (struct nvtx_row){
        .start = convert_time_nvtx(pairs->c, pairs->proc, item->u.nvtx.head.time),
        .payload = item->u.nvtx.payload,
        .range = item->u.nvtx.range,
        .string = item->u.nvtx.string,
        .schema = item->u.nvtx.schema,
        .proc = pairs->proc->index,
        .tid = item->u.nvtx.tid,
        .domain = domain_of(pairs->proc, item->u.nvtx.head.domain),
        .color = item->u.nvtx.color,
        .category = item->u.nvtx.category,
        .blob_bytes = item->u.nvtx.blob_bytes,
        .text_bytes = item->u.nvtx.text_bytes,
        .type = types[item->u.nvtx.head.type],
        .flags = item->u.nvtx.head.flags,
        .payload_type = (uint8_t)item->u.nvtx.payload_type,
        .color_type = (uint8_t)item->u.nvtx.color_type,
        .level = item->u.nvtx.head.level,
    };
}

/* Pairs one record; the records of each thread come in order. */
static int pair(struct convert_pairs *pairs, const struct spool_item *item, struct err *err)
{
    struct nvtx_row row;
    unsigned type = item->u.nvtx.head.type;
    if (type <= SPOOL_NVTX_THREAD || type >= SPOOL_NVTX_TYPES) {
        return 0;
    }
    struct stack *stack = NULL;
    if (type == SPOOL_NVTX_PUSH || type == SPOOL_NVTX_POP) {
        stack = stack_of(pairs, item->u.nvtx.tid, item->u.nvtx.head.domain);
        if (!stack) {
            return err_nomem(err, "NVTX ranges");
        }
    }
    if (type == SPOOL_NVTX_POP) {
        return pop(pairs, stack, item->u.nvtx.head.level,
                   convert_time_nvtx(pairs->c, pairs->proc, item->u.nvtx.head.time), err);
    }
    fill_row(pairs, item, &row);
    if (type == SPOOL_NVTX_PUSH) {
        return push(pairs, stack, &row, item, err);
    }
    if (type == SPOOL_NVTX_MARK) {
        const char *tail = tail_of(pairs, item, err);
        return tail == NULL ? -1 : emit(pairs, &row, tail, err);
    }
    return start_or_end(pairs, &row, item, type == SPOOL_NVTX_END, err);
}

/* A record that waits for its turn: the item, then its blob and text. */
static int put_off(struct convert_pairs *pairs, const struct spool_item *item, struct err *err)
{
    if (!pairs->sorter) {
        pairs->sorter = convert_sorter_new(pairs->c, 1);
        if (!pairs->sorter) {
            return err_nomem(err, "NVTX ranges");
        }
    }
    const char *tail = tail_of(pairs, item, err);
    if (tail == NULL) {
        return -1;
    }
    return sorter_add(pairs->sorter, (int64_t)item->u.nvtx.head.time,
                      SORTER_PART(item, sizeof *item), SORTER_PART(tail, pairs->c->scratch.len),
                      err);
}

int convert_pairs_add(struct convert_pairs *pairs, const struct spool_item *item, struct err *err)
{
    return pairs->proc->nvtx_disorder ? put_off(pairs, item, err) : pair(pairs, item, err);
}

/* Pairs what was put off, now in the order of time. */
static int pair_sorted(struct convert_pairs *pairs, struct err *err)
{
    struct sorter_record record;
    int got;
    while ((got = sorter_next(pairs->sorter, &record, err)) == 1) {
        struct spool_item item;
        memcpy(&item, record.data, sizeof item);
        item.u.nvtx.blob = (const char *)record.data + sizeof item;
        item.u.nvtx.text = (const char *)item.u.nvtx.blob + item.u.nvtx.blob_bytes;
        if (pair(pairs, &item, err) < 0) {
            return -1;
        }
    }
    return got;
}

int convert_pairs_end(struct convert_pairs *pairs, struct err *err)
{
    struct nvtx_row row;
    const char *tail;
    if (pairs->sorter && pair_sorted(pairs, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < pairs->stacks_cap; i++) {
        for (tail = take(&pairs->stacks[i], &row); tail; tail = take(&pairs->stacks[i], &row)) {
            if (emit(pairs, &row, tail, err) < 0) {
                return -1;
            }
        }
    }
    for (size_t i = 0; i < pairs->waiting_cap; i++) {
        struct waiting *slot = &pairs->waiting[i];
        int result = 0;
        if (slot->used && slot->is_end) {
            result =
                convert_lose(pairs->c, pairs->proc->index,
                             CONVERT_FAULT("NVTX", "end without a start", 1, slot->row.start), err);
        } else if (slot->used) {
            result = emit(pairs, &slot->row, slot->tail, err);
        }
        if (result < 0) {
            return -1;
        }
    }
    return 0;
}

int convert_nvtx_name(struct convert *c, const struct convert_proc *proc, int event_type,
                      const struct convert_label *label, struct err *err)
{
    struct nvtx_row row = {
        .start = clock_off(proc->created_mono_ns, c->zero_mono_ns),
        .proc = proc->index,
        .tid = event_type == NAME_THREAD ? (uint32_t)label->id : proc->pid,
        .domain = domain_of(proc, label->domain),
        .category = (uint32_t)label->id,
        .flags =
            event_type == EVENT_CATEGORY ? SPOOL_NVTX_TEXT | SPOOL_NVTX_CATEG : SPOOL_NVTX_TEXT,
        .text_bytes = (uint32_t)label->len,
        .type = (uint8_t)event_type,
    };
    c->names++;
    return sorter_add(c->sorters[CONVERT_NVTX], row.start, SORTER_PART(&row, sizeof row),
                      SORTER_PART(label->text, row.text_bytes), err);
}

/* ---- rows to the file ------------------------------------------------------------------------ */

static void payload_cell(const struct nvtx_row *row, struct store_cell *cells)
{
    double real = 0;
    float single = 0;
    uint32_t low = (uint32_t)row->payload;
    switch (row->payload_type) {
    case PAYLOAD_UINT64:
        cells[STORE_NVTX_UINT64_VALUE] = store_cell_int((int64_t)row->payload);
        break;
    case PAYLOAD_INT64:
        cells[STORE_NVTX_INT64_VALUE] = store_cell_int((int64_t)row->payload);
        break;
    case PAYLOAD_DOUBLE:
        memcpy(&real, &row->payload, sizeof real);
        cells[STORE_NVTX_DOUBLE_VALUE] = store_cell_real(real);
        break;
    case PAYLOAD_UINT32:
        cells[STORE_NVTX_UINT32_VALUE] = store_cell_int((int64_t)low);
        break;
    case PAYLOAD_INT32:
        cells[STORE_NVTX_INT32_VALUE] = store_cell_int((int32_t)low);
        break;
    case PAYLOAD_FLOAT:
        memcpy(&single, &low, sizeof single);
        cells[STORE_NVTX_FLOAT_VALUE] = store_cell_real((double)single);
        break;
    default:
        break;
    }
}

/* An extended payload as nsys stores it: four 64-bit numbers (domain, schema, bytes, where they
 * begin), then the bytes. */
static void blob_cell(struct convert *c, const struct nvtx_row *row, const char *blob,
                      struct store_cell *cells)
{
    uint64_t head[] = {row->domain, row->schema, row->blob_bytes, BLOB_HEAD};
    buf_reset(&c->scratch2);
    buf_add(&c->scratch2, head, sizeof head);
    buf_add(&c->scratch2, blob, row->blob_bytes);
    if (!buf_failed(&c->scratch2)) {
        cells[STORE_NVTX_BINARY_DATA] = store_cell_blob(c->scratch2.data, c->scratch2.len);
    }
}

/* The text: a registered one by its id, as nsys does, another one in the row itself. */
static int text_cell(struct convert *c, const struct nvtx_row *row, const char *text,
                     struct store_cell *cells, struct err *err)
{
    struct convert_string *string = row->flags & SPOOL_NVTX_STRING
                                        ? convert_string_of(&c->procs[row->proc], row->string)
                                        : NULL;
    if (string) {
        if (!string->id && convert_string_id(c, string->text, string->len, &string->id, err) < 0) {
            return -1;
        }
        cells[STORE_NVTX_TEXT_ID] = store_cell_int(string->id);
    } else if (row->flags & SPOOL_NVTX_TEXT) {
        cells[STORE_NVTX_TEXT] = convert_text(&c->scratch, text, row->text_bytes);
    } else if (row->flags & SPOOL_NVTX_STRING) {
        cells[STORE_NVTX_TEXT] = store_cell_text("<lost text>", strlen("<lost text>"));
        return convert_lose(c, row->proc,
                            CONVERT_FAULT("NVTX", "registered text not known", 1, row->start), err);
    }
    return 0;
}

int convert_nvtx_row(struct convert *c, const void *data, uint32_t bytes, struct err *err)
{
    const struct nvtx_row *row = data;
    const char *tail = (const char *)(row + 1);
    if (bytes < sizeof *row + row->blob_bytes + row->text_bytes) {
        return 0;
    }
    uint32_t pid = c->procs[row->proc].pid;
    struct store_cell cells[STORE_NVTX_N] = {
        [STORE_NVTX_START] = store_cell_int(row->start),
        [STORE_NVTX_EVENT_TYPE] = store_cell_int(row->type),
        [STORE_NVTX_GLOBAL_TID] = store_cell_int(store_global_tid(pid, row->tid)),
        [STORE_NVTX_DOMAIN_ID] = store_cell_int(row->domain),
    };
    if (row->ended) {
        cells[STORE_NVTX_END] = store_cell_int(row->end);
    }
    if (row->flags & SPOOL_NVTX_RANGE) {
        cells[STORE_NVTX_RANGE_ID] = store_cell_int((int64_t)row->range);
    }
    if (row->ended && row->end_tid && row->end_tid != row->tid) {
        cells[STORE_NVTX_END_GLOBAL_TID] = store_cell_int(store_global_tid(pid, row->end_tid));
    }
    if (row->flags & SPOOL_NVTX_ATTR && row->color_type == 1) {
        cells[STORE_NVTX_COLOR] = store_cell_int((int64_t)row->color);
    }
    if (row->flags & SPOOL_NVTX_CATEG) {
        cells[STORE_NVTX_CATEGORY] = store_cell_int((int64_t)row->category);
    }
    if (row->flags & SPOOL_NVTX_PAYLOAD) {
        payload_cell(row, cells);
    }
    if (row->flags & SPOOL_NVTX_BLOB) {
        blob_cell(c, row, tail, cells);
    }
    if (text_cell(c, row, tail + row->blob_bytes, cells, err) < 0) {
        return -1;
    }
    return store_writer_row(c->writer, STORE_TABLE_NVTX, cells, err);
}
