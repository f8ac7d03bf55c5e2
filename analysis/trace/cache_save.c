/* cache_save: writes a trace into the cache folder. See cache_layout.h for the layout. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/store/cache_folder.h"
#include "analysis/store/cache_seal.h"
#include "analysis/trace/cache_layout.h"

enum {
    SAVE_BYTES = 1 << 20 /* written at a time: so often it is asked whether to go on */
};

struct cache_writer {
    int fd;
    const atomic_bool *stop; /* NULL: never */
    const struct cache_growing *growing; /* what is there already; NULL: nothing */
    struct cache_head head;
    bool failed; /* errno says why */
};

/* While the texts get their offsets. */
struct cache_texts_of {
    const struct intern *texts;
    uint64_t *offset; /* of each text */
    struct buf all;
};

/* Writes in pieces. 0 or -1. */
static int put_bytes(int fd, const void *data, size_t bytes, const atomic_bool *stop)
{
    const unsigned char *at = data;
    while (bytes > 0) {
        size_t some = bytes < SAVE_BYTES ? bytes : SAVE_BYTES;
        if (stop != NULL && atomic_load(stop)) {
            errno = EINTR;
            return -1;
        }
        if (cache_folder_write(fd, at, some) != 0) {
            return -1;
        }
        at += some;
        bytes -= some;
    }
    return 0;
}

int cache_put_padded(int fd, const void *data, size_t bytes, const atomic_bool *stop, uint64_t *sum)
{
    unsigned char rest[CACHE_ALIGN] = {0};
    size_t whole = bytes / CACHE_ALIGN * CACHE_ALIGN;
    *sum = cache_padded_sum(data, bytes);
    if (put_bytes(fd, data, whole, stop) != 0) {
        return -1;
    }
    if (bytes > whole) {
        memcpy(rest, (const unsigned char *)data + whole, bytes - whole);
        return put_bytes(fd, rest, sizeof rest, stop);
    }
    return 0;
}

/* Adds bytes, filled up to the alignment. Their hash. */
static uint64_t put_padded(struct cache_writer *writer, const void *data, size_t bytes)
{
    uint64_t sum = 0;
    writer->failed =
        writer->failed || cache_put_padded(writer->fd, data, bytes, writer->stop, &sum) != 0;
    return sum;
}

/* Adds the next section. */
static void put_section(struct cache_writer *writer, int section, const void *data, uint64_t bytes)
{
    if (writer->growing != NULL && writer->growing->done[section]) {
        writer->head.sections[section] = writer->growing->places[section];
        writer->failed = writer->failed || bytes != writer->growing->places[section].bytes ||
                         lseek(writer->fd, (off_t)cache_aligned(bytes), SEEK_CUR) < 0;
        return;
    }
    writer->head.sections[section] =
        (struct cache_place){bytes, put_padded(writer, data, (size_t)bytes)};
}

static uint64_t text_offset(const struct cache_texts_of *texts, const char *text, uint32_t len)
{
    if (text == NULL) {
        return CACHE_NO_TEXT;
    }
    uint32_t index = len == 0 ? INTERN_NONE : intern_find(texts->texts, text, len);
    return index == INTERN_NONE ? 0 : texts->offset[index];
}

static int texts_collect(struct cache_texts_of *texts, const struct trace *trace)
{
    texts->texts = &trace_own(trace)->texts;
    texts->offset = calloc((size_t)texts->texts->count + 1, sizeof *texts->offset);
    buf_addc(&texts->all, '\0');
    for (uint32_t i = 0; texts->offset != NULL && i < texts->texts->count; i++) {
        texts->offset[i] = texts->all.len;
        buf_add(&texts->all, intern_text(texts->texts, i), intern_len(texts->texts, i));
        buf_addc(&texts->all, '\0');
    }
    return texts->offset == NULL || buf_failed(&texts->all) ? -1 : 0;
}

static void save_events(struct cache_writer *writer, const struct trace *trace)
{
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        const struct trace_events *events = &trace->events[t];
        const void *columns[CACHE_COLUMNS] = {events->begin_ns, events->end_ns, events->name,
                                              events->row, events->link};
        for (int c = 0; c < CACHE_COLUMNS; c++) {
            int section = CACHE_EVENTS + t * CACHE_COLUMNS + c;
            put_section(writer, section, columns[c], cache_section_bytes(&writer->head, section));
        }
    }
}

static void save_names(struct cache_writer *writer, const struct trace *trace,
                       const struct cache_texts_of *texts)
{
    struct trace_name *names = calloc((size_t)trace->name_count + 1, sizeof *names);
    struct cache_texts *offsets = calloc((size_t)trace->name_count + 1, sizeof *offsets);
    if (names == NULL || offsets == NULL) {
        writer->failed = true;
    }
    for (uint32_t i = 0; !writer->failed && i < trace->name_count; i++) {
        const struct trace_name *name = &trace->names[i];
        offsets[i] = (struct cache_texts){text_offset(texts, name->full, name->full_len),
                                          text_offset(texts, name->brief, name->brief_len),
                                          text_offset(texts, name->mangled, name->mangled_len),
                                          text_offset(texts, name->domain, name->domain_len)};
        names[i] = *name;
        names[i].full = NULL;
        names[i].brief = NULL;
        names[i].mangled = NULL;
        names[i].domain = NULL;
    }
    if (!writer->failed) {
        put_section(writer, CACHE_NAMES, names, trace->name_count * sizeof *names);
        put_section(writer, CACHE_NAME_TEXTS, offsets, trace->name_count * sizeof *offsets);
    }
    free(names);
    free(offsets);
}

static void save_people(struct cache_writer *writer, const struct trace *trace,
                        const struct cache_texts_of *texts)
{
    size_t count = (size_t)trace->process_count + trace->thread_count + trace->device_count;
    uint64_t *offsets = calloc(count + 1, sizeof *offsets);
    size_t at = 0;
    if (offsets == NULL) {
        writer->failed = true;
        return;
    }
    for (uint32_t i = 0; i < trace->process_count; i++) {
        offsets[at++] = text_offset(texts, trace->processes[i].name, trace->processes[i].name_len);
    }
    for (uint32_t i = 0; i < trace->thread_count; i++) {
        offsets[at++] = text_offset(texts, trace->threads[i].name, trace->threads[i].name_len);
    }
    for (uint32_t i = 0; i < trace->device_count; i++) {
        offsets[at++] = text_offset(texts, trace->devices[i].name, trace->devices[i].name_len);
    }
    put_section(writer, CACHE_PROCESSES, trace->processes,
                trace->process_count * sizeof *trace->processes);
    put_section(writer, CACHE_THREADS, trace->threads,
                trace->thread_count * sizeof *trace->threads);
    put_section(writer, CACHE_DEVICES, trace->devices,
                trace->device_count * sizeof *trace->devices);
    put_section(writer, CACHE_PEOPLE_TEXTS, offsets, count * sizeof *offsets);
    free(offsets);
}

static void save_unions(struct cache_writer *writer, const struct trace *trace)
{
    size_t count = 0;
    int64_t *all = cache_join_unions(trace, &count);
    writer->failed = writer->failed || all == NULL;
    if (!writer->failed) {
        put_section(writer, CACHE_UNIONS, all, count * sizeof *all);
    }
    free(all);
}

static void save_head(struct cache_writer *writer, const struct trace *trace)
{
    const struct trace_own *own = trace_own(trace);
    struct cache_head *head = &writer->head;
    memcpy(head->magic, CACHE_MAGIC, sizeof head->magic);
    head->counts = trace->counts;
    head->begin_ns = trace->begin_ns;
    head->end_ns = trace->end_ns;
    head->nvtx_end_ns = trace->nvtx_end_ns;
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        head->event_count[t] = trace->events[t].count;
    }
    head->launch_op_count = trace->launch_op_count;
    head->lane_count = trace->lane_count;
    head->open_count = own->open_count;
    head->cross_count = own->cross_count;
    head->name_count = trace->name_count;
    head->process_count = trace->process_count;
    head->thread_count = trace->thread_count;
    head->device_count = trace->device_count;
}

enum {
    SAVE_FOLDER_BYTES = 4096
};

/* The path from the top, so that it says something from any folder. */
static void save_path(struct cache_writer *writer, const struct trace *trace)
{
    char *here = trace->path[0] == '/' ? NULL : malloc(SAVE_FOLDER_BYTES);
    struct buf path = {0};
    if (here != NULL && getcwd(here, SAVE_FOLDER_BYTES) != NULL) {
        buf_addf(&path, "%s/", here);
    }
    buf_adds(&path, trace->path);
    writer->failed = writer->failed || buf_failed(&path);
    put_section(writer, CACHE_PATH, buf_text(&path), path.len);
    buf_free(&path);
    free(here);
}

static void save_sections(struct cache_writer *writer, const struct trace *trace,
                          const struct cache_texts_of *texts)
{
    const struct trace_own *own = trace_own(trace);
    const struct cache_head *head = &writer->head;
    save_events(writer, trace);
    put_section(writer, CACHE_LAUNCH_OPS, trace->launch_ops,
                cache_section_bytes(head, CACHE_LAUNCH_OPS));
    put_section(writer, CACHE_GPU_BUSY, trace->gpu_busy_ns,
                cache_section_bytes(head, CACHE_GPU_BUSY));
    save_unions(writer, trace);
    put_section(writer, CACHE_LANES, trace->lanes, cache_section_bytes(head, CACHE_LANES));
    put_section(writer, CACHE_OPEN, own->open, cache_section_bytes(head, CACHE_OPEN));
    put_section(writer, CACHE_CROSS, own->cross, cache_section_bytes(head, CACHE_CROSS));
    save_names(writer, trace, texts);
    save_people(writer, trace, texts);
    save_path(writer, trace);
    put_section(writer, CACHE_TEXTS, buf_text(&texts->all), texts->all.len);
}

/* The head comes first in the file, but is known last: until then 0 stands in its place. */
static int write_all(int fd, const struct trace *trace, const struct cache_growing *growing,
                     const struct cache_key *key, const atomic_bool *stop)
{
    struct cache_writer *writer = calloc(1, sizeof *writer);
    struct cache_texts_of texts = {0};
    if (writer == NULL) {
        return -1;
    }
    writer->fd = fd;
    writer->stop = stop;
    writer->growing = growing;
    writer->failed = lseek(fd, 0, SEEK_SET) != 0;
    writer->head.key = *key;
    writer->failed = texts_collect(&texts, trace) != 0 || writer->failed;
    (void)put_padded(writer, &(struct cache_head){0}, sizeof writer->head);
    save_head(writer, trace);
    save_sections(writer, trace, &texts);
    writer->head.sum = cache_head_sum(&writer->head);
    writer->failed = writer->failed || lseek(fd, 0, SEEK_SET) != 0;
    writer->failed = writer->failed || put_bytes(fd, &writer->head, sizeof writer->head, stop) != 0;
    int status = writer->failed ? -1 : 0;
    int code = errno;
    free(texts.offset);
    buf_free(&texts.all);
    free(writer);
    errno = code;
    return status;
}

int cache_write(int fd, const struct trace *trace, const struct cache_key *key,
                const atomic_bool *stop)
{
    return write_all(fd, trace, NULL, key, stop);
}

int cache_finish(struct cache_part *part, const char *name, uint64_t rules, int status)
{
    const struct cache_folder *folder = part->folder;
    if (status != 0) {
        int code = errno;
        cache_folder_drop(part);
        errno = code;
        return -1;
    }
    if (cache_folder_finish(part, name) != 0) {
        return -1;
    }
    struct stat was;
    int fd = cache_folder_find(folder, name);
    if (fd >= 0) {
        if (cache_seal_look(fd, &was)) {
            cache_seal_put(folder, name, fd, &was, rules);
        }
        (void)close(fd);
    }
    return 0;
}

static int save_into(const struct cache_folder *folder, const char *name, const struct trace *trace,
                     const struct cache_key *key, const atomic_bool *stop)
{
    struct cache_part part;
    int status = cache_folder_begin(folder, "", &part);
    if (status == 0) {
        status = cache_write(part.fd, trace, key, stop);
    }
    return cache_finish(&part, name, key->layout, status);
}

/* The same of a file that has grown. */
static int save_grown(struct cache_growing *growing, const struct trace *trace,
                      const atomic_bool *stop)
{
    int status = write_all(growing->part.fd, trace, growing, &growing->key, stop);
    return cache_finish(&growing->part, buf_text(&growing->name), growing->key.layout, status);
}

int cache_save(const struct trace *trace, uint32_t limit_mib, const atomic_bool *stop,
               struct err *err)
{
    const struct store_file *file = trace_own(trace)->file;
    struct cache_folder folder = {.fd = -1};
    struct cache_key key;
    struct buf name = {0};
    int status = 0;
    if (store_file_check(file, NULL) == 0 && cache_name(file, &name, &key) == 0) {
        status = cache_folder_open(&folder, err);
        folder.limit_mib = limit_mib > 0 ? limit_mib : folder.limit_mib;
        errno = 0;
        struct cache_growing *growing = trace_own(trace)->growing;
        bool grown = growing != NULL && !atomic_load(&growing->failed) && growing->part.fd >= 0;
        if (growing != NULL && !grown) {
            cache_folder_drop(&growing->part); /* its room is needed */
        }
        if (status == 0 && (grown ? save_grown(growing, trace, stop)
                                  : save_into(&folder, buf_text(&name), trace, &key, stop)) != 0) {
            status = err_set(err, "%s: cannot be written to: %s", buf_text(&folder.path),
                             errno != 0 ? strerror(errno) : "others can read what is there");
        }
    }
    cache_folder_close(&folder);
    buf_free(&name);
    return status;
}

void cache_forget(const struct trace *trace)
{
    static const char *const kinds[] = {"trace", "figures"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct cache_folder folder = {.fd = -1};
        struct cache_key key;
        struct buf name = {0};
        if (cache_file_name(trace_own(trace)->file, kinds[i], &name, &key) == 0 &&
            cache_folder_open(&folder, NULL) == 0) {
            (void)cache_folder_remove(&folder, buf_text(&name));
        }
        cache_folder_close(&folder);
        buf_free(&name);
    }
}
