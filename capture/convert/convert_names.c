/* Names for the converter: of processes, threads and NVTX categories. A name may be given again, and
 * a thread has one from NVTX and one from the system: here it is decided which one counts. The last
 * one does, and that of NVTX before that of the system. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "capture/convert/convert_internal.h"

enum {
    EVENT_CATEGORY = 33,
    EVENT_THREAD = 39,
    COMM_BYTES = 15, /* of a thread's name: what is longer is cut there by the kernel */
};

/* A name of a thread on its way to ThreadNames; in the order in which they count. */
struct thread_name {
    int64_t global_tid;
    bool nvtx;
    size_t order; /* of the spools and, in one, of the records */
    const char *text;
    size_t len;
};

static int keep(struct convert_proc *proc, const struct spool_item *item, struct err *err)
{
    const struct spool_meta *head = &item->u.meta.head;
    size_t cap = proc->labels_cap;
    struct convert_label *grown =
        array_grow(proc->labels, &cap, (size_t)proc->labels_count + 1, sizeof *grown);
    char *text = arena_copy(&proc->arena, item->u.meta.text, head->text_bytes);
    if (grown != NULL) {
        proc->labels = grown;
        proc->labels_cap = cap;
    }
    if (grown == NULL || text == NULL) {
        return err_nomem(err, "names");
    }
    grown[proc->labels_count] = (struct convert_label){.kind = head->kind,
                                                       .domain = head->domain,
                                                       .id = head->value[0],
                                                       .order = proc->labels_count,
                                                       .text = text,
                                                       .len = head->text_bytes};
    proc->labels_count++;
    return 0;
}

int convert_name_learn(struct convert_proc *proc, const struct spool_item *item, struct err *err)
{
    if (item->u.meta.head.kind != SPOOL_META_COMMAND) {
        return keep(proc, item, err);
    }
    proc->command = arena_copy(&proc->arena, item->u.meta.text, item->u.meta.head.text_bytes);
    proc->command_len = item->u.meta.head.text_bytes;
    return proc->command == NULL ? err_nomem(err, "names") : 0;
}

/* What a label names first, then the order in which the names were given. */
static int by_object(const void *a, const void *b)
{
    const struct convert_label *left = a;
    const struct convert_label *right = b;
    if (left->kind != right->kind) {
        return COMPARE(left->kind, right->kind);
    }
    if (left->domain != right->domain) {
        return COMPARE(left->domain, right->domain);
    }
    if (left->id != right->id) {
        return COMPARE(left->id, right->id);
    }
    return COMPARE(left->order, right->order);
}

static bool same_object(const struct convert_label *a, const struct convert_label *b)
{
    return a->kind == b->kind && a->domain == b->domain && a->id == b->id;
}

/* ---- the process ----------------------------------------------------------------------------- */

/* The first word of the command line without its folder. */
static const char *title_of(const struct convert_proc *proc, size_t *len)
{
    const char *word = proc->command == NULL ? "" : proc->command;
    const char *end = memchr(word, '\0', proc->command_len);
    size_t all = end == NULL ? proc->command_len : (size_t)(end - word);
    if (all > 0 && (*word == '/' || *word == '.')) {
        for (const char *c = word; c < proc->command + all; c++) {
            word = *c == '/' ? c + 1 : word;
        }
        all -= (size_t)(word - proc->command);
    }
    *len = all;
    return word;
}

/* The name of a process is that of its main thread, as ps has it. The kernel cuts it; a program that
 * gives itself a title writes the whole of it over its command line. */
static void name_process(struct convert_proc *proc, struct convert_process *process)
{
    for (size_t i = 0; i < proc->labels_count; i++) {
        const struct convert_label *label = &proc->labels[i];
        if (label->kind == SPOOL_META_OS_THREAD && label->id == proc->pid && label->len > 0) {
            (void)snprintf(process->name, sizeof process->name, "%.*s", (int)label->len,
                           label->text);
        }
    }
    size_t len = 0;
    const char *title = title_of(proc, &len);
    if (strlen(process->name) == COMM_BYTES && len > COMM_BYTES &&
        memcmp(title, process->name, COMM_BYTES) == 0) {
        (void)snprintf(process->name, sizeof process->name, "%.*s", (int)len, title);
    }
}

void convert_names_settle(struct convert *c, struct convert_proc *proc)
{
    name_process(proc, &c->result->processes[proc->index]);
    sort_list(proc->labels, proc->labels_count, sizeof *proc->labels, by_object);
    size_t kept = 0;
    for (size_t i = 0; i < proc->labels_count; i++) {
        if (i + 1 == proc->labels_count || !same_object(&proc->labels[i], &proc->labels[i + 1])) {
            proc->labels[kept++] = proc->labels[i];
        }
    }
    proc->labels_count = (uint32_t)kept;
}

/* Whether a word of a command line can stand there without quotes. */
static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./:=@%+,-*";
    return *word != '\0' && word[strspn(word, plain)] == '\0';
}

void convert_command_line(const struct convert_proc *proc, struct buf *out)
{
    struct buf word = {0};
    buf_reset(out);
    for (size_t at = 0; at < proc->command_len; at += word.len + 1) {
        const char *from = proc->command + at;
        buf_reset(&word);
        buf_add(&word, from, strnlen(from, proc->command_len - at));
        const char *text = buf_text(&word);
        bool title = at == 0 && word.len + 1 >= proc->command_len;
        buf_adds(out, at == 0 ? "" : " ");
        if (title || is_plain(text)) {
            buf_adds(out, text);
            continue;
        }
        buf_addc(out, '\'');
        for (const char *c = text; *c != '\0'; c++) {
            buf_adds(out, *c == '\'' ? "'\\''" : (const char[]){*c, '\0'});
        }
        buf_addc(out, '\'');
    }
    buf_free(&word);
}

/* ---- rows ------------------------------------------------------------------------------------ */

int convert_name_rows(struct convert *c, const struct convert_proc *proc, struct err *err)
{
    for (size_t i = 0; i < proc->labels_count; i++) {
        const struct convert_label *label = &proc->labels[i];
        int type = label->kind == SPOOL_META_CATEGORY ? EVENT_CATEGORY
                   : label->kind == SPOOL_META_THREAD ? EVENT_THREAD
                                                      : 0;
        if (type != 0 && convert_nvtx_name(c, proc, type, label, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Names that count less come first. */
static int by_thread(const void *a, const void *b)
{
    const struct thread_name *left = a;
    const struct thread_name *right = b;
    if (left->global_tid != right->global_tid) {
        return COMPARE(left->global_tid, right->global_tid);
    }
    if (left->nvtx != right->nvtx) {
        return left->nvtx ? 1 : -1;
    }
    return COMPARE(left->order, right->order);
}

/* All names of threads; the main threads have those of their processes at least. Returns their
 * number. */
static size_t collect(const struct convert *c, struct thread_name *list)
{
    size_t count = 0;
    for (size_t i = 0; i < c->procs_n; i++) {
        const struct convert_proc *proc = &c->procs[i];
        const char *name = c->result->processes[i].name;
        list[count] = (struct thread_name){.global_tid = store_global_tid(proc->pid, proc->pid),
                                           .order = count,
                                           .text = name,
                                           .len = strlen(name)};
        count++;
        for (size_t k = 0; k < proc->labels_count; k++) {
            const struct convert_label *label = &proc->labels[k];
            bool nvtx = label->kind == SPOOL_META_THREAD;
            if (!nvtx && label->kind != SPOOL_META_OS_THREAD) {
                continue;
            }
            list[count] =
                (struct thread_name){.global_tid = store_global_tid(proc->pid, (uint32_t)label->id),
                                     .nvtx = nvtx,
                                     .order = count,
                                     .text = label->text,
                                     .len = label->len};
            count++;
        }
    }
    return count;
}

static int thread_row(struct convert *c, const struct thread_name *name, struct err *err)
{
    int64_t id = 0;
    if (convert_string_id(c, name->text, name->len, &id, err) < 0) {
        return -1;
    }
    struct store_cell row[STORE_THREAD_NAMES_N] = {
        [STORE_THREAD_NAMES_NAME_ID] = store_cell_int(id),
        [STORE_THREAD_NAMES_PRIORITY] = store_cell_int(0),
        [STORE_THREAD_NAMES_GLOBAL_TID] = store_cell_int(name->global_tid),
    };
    return store_writer_row(c->writer, STORE_TABLE_THREAD_NAMES, row, err);
}

int convert_thread_names(struct convert *c, struct err *err)
{
    size_t count = c->procs_n;
    for (size_t i = 0; i < c->procs_n; i++) {
        count += c->procs[i].labels_count;
    }
    struct thread_name *list = array_resize(NULL, count, sizeof *list);
    if (list == NULL) {
        return err_nomem(err, "names of threads");
    }
    count = collect(c, list);
    sort_list(list, count, sizeof *list, by_thread);
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        bool last = i + 1 == count || list[i].global_tid != list[i + 1].global_tid;
        result = last ? thread_row(c, &list[i], err) : 0;
    }
    free(list);
    return result;
}
