/* cache_save: writes a trace into the cache folder. See cache_layout.h for the layout. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/store/nsys_rep.h"
#include "analysis/trace/cache_layout.h"

enum {
    CACHE_FOLDER_MIB = 4096 /* all cached traces together */
};

struct cache_writer {
    FILE *file;
    struct cache_head head;
    struct cache_hash hash;
    uint64_t at; /* bytes after the head */
    bool failed;
};

/* While the texts get their offsets. */
struct cache_texts_of {
    const struct intern *texts;
    uint64_t *offset; /* of each text */
    struct buf all;
};

/* Adds one slot, filled up to the alignment. The data is read in place. */
static void writer_slot(struct cache_writer *writer, int slot, const void *data, uint64_t bytes)
{
    unsigned char rest[CACHE_ALIGN] = {0};
    size_t whole = (size_t)(bytes / CACHE_ALIGN * CACHE_ALIGN);
    size_t left = (size_t)bytes - whole;
    writer->head.offset[slot] = writer->at;
    writer->head.bytes[slot] = bytes;
    if (whole > 0) {
        cache_hash_add(&writer->hash, data, whole);
        writer->failed = writer->failed || fwrite(data, 1, whole, writer->file) != whole;
    }
    if (left > 0) {
        memcpy(rest, (const unsigned char *)data + whole, left);
        cache_hash_add(&writer->hash, rest, sizeof rest);
        writer->failed =
            writer->failed || fwrite(rest, 1, sizeof rest, writer->file) != sizeof rest;
    }
    writer->at += whole + (left > 0 ? sizeof rest : 0);
}

static uint64_t text_offset(const struct cache_texts_of *texts, const char *text, uint32_t len)
{
    uint32_t index;
    if (text == NULL) {
        return CACHE_NO_TEXT;
    }
    index = len == 0 ? INTERN_NONE : intern_find(texts->texts, text, len);
    return index == INTERN_NONE ? 0 : texts->offset[index];
}

static int texts_collect(struct cache_texts_of *texts, const struct trace *trace)
{
    uint32_t i;
    texts->texts = &trace_own(trace)->texts;
    texts->offset = calloc((size_t)texts->texts->count + 1, sizeof *texts->offset);
    buf_addc(&texts->all, '\0');
    for (i = 0; texts->offset != NULL && i < texts->texts->count; i++) {
        texts->offset[i] = texts->all.len;
        buf_add(&texts->all, intern_text(texts->texts, i), intern_len(texts->texts, i));
        buf_addc(&texts->all, '\0');
    }
    return texts->offset == NULL || buf_failed(&texts->all) ? -1 : 0;
}

static void save_events(struct cache_writer *writer, const struct trace *trace)
{
    int t;
    for (t = 0; t < TRACE_TABLE_COUNT; t++) {
        const struct trace_events *events = &trace->events[t];
        const void *columns[CACHE_COLUMNS] = {events->begin_ns, events->end_ns, events->name,
                                              events->row, events->link};
        int c;
        for (c = 0; c < CACHE_COLUMNS; c++) {
            int slot = CACHE_EVENTS + t * CACHE_COLUMNS + c;
            writer_slot(writer, slot, columns[c], cache_slot_bytes(&writer->head, slot));
        }
    }
}

static void save_names(struct cache_writer *writer, const struct trace *trace,
                       const struct cache_texts_of *texts)
{
    struct trace_name *names = calloc((size_t)trace->name_count + 1, sizeof *names);
    struct cache_texts *offsets = calloc((size_t)trace->name_count + 1, sizeof *offsets);
    uint32_t i;
    if (names == NULL || offsets == NULL) {
        writer->failed = true;
    }
    for (i = 0; !writer->failed && i < trace->name_count; i++) {
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
        writer_slot(writer, CACHE_NAMES, names, trace->name_count * sizeof *names);
        writer_slot(writer, CACHE_NAME_TEXTS, offsets, trace->name_count * sizeof *offsets);
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
    uint32_t i;
    if (offsets == NULL) {
        writer->failed = true;
        return;
    }
    for (i = 0; i < trace->process_count; i++) {
        offsets[at++] = text_offset(texts, trace->processes[i].name, trace->processes[i].name_len);
    }
    for (i = 0; i < trace->thread_count; i++) {
        offsets[at++] = text_offset(texts, trace->threads[i].name, trace->threads[i].name_len);
    }
    for (i = 0; i < trace->device_count; i++) {
        offsets[at++] = text_offset(texts, trace->devices[i].name, trace->devices[i].name_len);
    }
    writer_slot(writer, CACHE_PROCESSES, trace->processes,
                trace->process_count * sizeof *trace->processes);
    writer_slot(writer, CACHE_THREADS, trace->threads,
                trace->thread_count * sizeof *trace->threads);
    writer_slot(writer, CACHE_DEVICES, trace->devices,
                trace->device_count * sizeof *trace->devices);
    writer_slot(writer, CACHE_PEOPLE_TEXTS, offsets, count * sizeof *offsets);
    free(offsets);
}

static void save_unions(struct cache_writer *writer, const struct trace *trace)
{
    size_t count = 0;
    size_t at = 0;
    int64_t *all;
    uint32_t d;
    for (d = 0; d < trace->device_count; d++) {
        count += (size_t)trace->devices[d].busy_count * 3 + 1;
    }
    all = malloc((count + 1) * sizeof *all);
    if (all == NULL) {
        writer->failed = true;
        return;
    }
    for (d = 0; d < trace->device_count; d++) {
        const struct trace_device *device = &trace->devices[d];
        size_t n = device->busy_count;
        if (n > 0) {
            memcpy(all + at, device->busy_begin_ns, n * sizeof *all);
            memcpy(all + at + n, device->busy_end_ns, n * sizeof *all);
        }
        memcpy(all + at + 2 * n, device->busy_sum_ns, (n + 1) * sizeof *all);
        at += 3 * n + 1;
    }
    writer_slot(writer, CACHE_UNIONS, all, count * sizeof *all);
    free(all);
}

static void save_head(struct cache_writer *writer, const struct trace *trace)
{
    const struct trace_own *own = trace_own(trace);
    struct cache_head *head = &writer->head;
    int t;
    memcpy(head->magic, CACHE_MAGIC, sizeof head->magic);
    head->counts = trace->counts;
    head->begin_ns = trace->begin_ns;
    head->end_ns = trace->end_ns;
    head->nvtx_end_ns = trace->nvtx_end_ns;
    for (t = 0; t < TRACE_TABLE_COUNT; t++) {
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

static void save_all(struct cache_writer *writer, const struct trace *trace)
{
    const struct trace_own *own = trace_own(trace);
    const struct cache_head *head = &writer->head;
    struct cache_texts_of texts = {0};
    save_head(writer, trace);
    cache_hash_init(&writer->hash);
    writer->failed = texts_collect(&texts, trace) != 0 ||
                     fwrite(head, 1, sizeof *head, writer->file) != sizeof *head;
    save_events(writer, trace);
    writer_slot(writer, CACHE_LAUNCH_OPS, trace->launch_ops,
                cache_slot_bytes(head, CACHE_LAUNCH_OPS));
    writer_slot(writer, CACHE_GPU_BUSY, trace->gpu_busy_ns, cache_slot_bytes(head, CACHE_GPU_BUSY));
    writer_slot(writer, CACHE_LANES, trace->lanes, cache_slot_bytes(head, CACHE_LANES));
    writer_slot(writer, CACHE_OPEN, own->open, cache_slot_bytes(head, CACHE_OPEN));
    writer_slot(writer, CACHE_CROSS, own->cross, cache_slot_bytes(head, CACHE_CROSS));
    save_names(writer, trace, &texts);
    save_people(writer, trace, &texts);
    save_unions(writer, trace);
    writer_slot(writer, CACHE_TEXTS, buf_text(&texts.all), texts.all.len);
    writer->head.body_hash = cache_hash_end(&writer->hash);
    writer->failed = writer->failed || fseek(writer->file, 0, SEEK_SET) != 0 ||
                     fwrite(head, 1, sizeof *head, writer->file) != sizeof *head;
    free(texts.offset);
    buf_free(&texts.all);
}

/* The oldest cached trace and the bytes of all. False where the folder cannot be read. */
static bool folder_oldest(const char *folder, struct buf *oldest, uint64_t *total)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    struct buf path = {0};
    int64_t oldest_s = INT64_MAX;
    *total = 0;
    buf_reset(oldest);
    if (dir == NULL) {
        return false;
    }
    while ((entry = readdir(dir)) != NULL) {
        struct stat st;
        if (strncmp(entry->d_name, "trace-", 6) != 0) {
            continue;
        }
        buf_reset(&path);
        buf_addf(&path, "%s/%s", folder, entry->d_name);
        if (buf_failed(&path) || stat(buf_text(&path), &st) != 0) {
            continue;
        }
        *total += (uint64_t)st.st_size;
        if ((int64_t)st.st_mtim.tv_sec < oldest_s) {
            oldest_s = (int64_t)st.st_mtim.tv_sec;
            buf_reset(oldest);
            buf_adds(oldest, buf_text(&path));
        }
    }
    (void)closedir(dir);
    buf_free(&path);
    return oldest->len > 0 && !buf_failed(oldest);
}

/* Removes the oldest until all fit. */
static void folder_trim(const char *name)
{
    struct buf folder = {0};
    struct buf oldest = {0};
    uint64_t total;
    buf_add(&folder, name, (size_t)(strrchr(name, '/') - name));
    while (!buf_failed(&folder) && folder_oldest(buf_text(&folder), &oldest, &total) &&
           total > (uint64_t)CACHE_FOLDER_MIB * 1024 * 1024) {
        if (unlink(buf_text(&oldest)) != 0) {
            break;
        }
    }
    buf_free(&folder);
    buf_free(&oldest);
}

/* A new file that nobody else may read: names can be secrets. NULL where there is one already. */
static FILE *save_open(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (fd >= 0 && file == NULL) {
        (void)close(fd);
    }
    return file;
}

void cache_save(const struct trace *trace)
{
    struct cache_writer *writer = calloc(1, sizeof *writer);
    struct buf name = {0};
    struct buf part = {0};
    if (writer == NULL || cache_name(trace->path, &name, &writer->head.key) != 0) {
        goto out;
    }
    buf_addf(&part, "%s.%ld", buf_text(&name), (long)getpid());
    writer->file = buf_failed(&part) ? NULL : save_open(buf_text(&part));
    if (writer->file == NULL) {
        goto out;
    }
    save_all(writer, trace);
    if (fclose(writer->file) != 0 || writer->failed ||
        rename(buf_text(&part), buf_text(&name)) != 0) {
        (void)unlink(buf_text(&part));
        goto out;
    }
    folder_trim(buf_text(&name));
out:
    free(writer);
    buf_free(&name);
    buf_free(&part);
}
