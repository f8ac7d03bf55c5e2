/*
 * shelf: see shelf.h. The file:
 *
 *     struct shelf_head | struct shelf_entry, sorted, count of them | arrays
 *
 * Each part begins at a multiple of CACHE_ALIGN and is filled up with 0. The sum of the head covers the
 * entries; each array has its own.
 */
#include "analysis/trace/shelf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/store/cache_folder.h"
#include "analysis/store/cache_seal.h"
#include "analysis/trace/cache_layout.h"

static const char SHELF_MAGIC[8] = {'C', 'U', 'T', 'L', 'S', 'H', 'E', '1'};

enum {
    SHELF_ENTRIES_MAX = 1 << 24
};

/* No padding: they are summed. */
struct shelf_entry {
    uint32_t kind;
    uint32_t number;
    uint64_t at;
    uint64_t bytes;
    uint64_t sum;
};

struct shelf_head {
    char magic[8];
    uint64_t sum; /* of the head with 0 in this place, and of the entries */
    struct cache_key key;
    uint64_t count;
    uint64_t file_bytes;
};

struct shelf {
    int fd;
    unsigned char *bytes;
    size_t len;
    const struct shelf_head *head;
    const struct shelf_entry *entries;
    atomic_uint used; /* bits of 1 << kind: what was asked for */
    atomic_uint compared; /* and of whose arrays the sums were compared since */
};

static uint64_t head_sum(const struct shelf_head *head, const struct shelf_entry *entries)
{
    unsigned char padded[(sizeof *head / CACHE_ALIGN + 1) * CACHE_ALIGN] = {0};
    struct shelf_head copy = *head;
    struct cache_hash hash;
    copy.sum = 0;
    memcpy(padded, &copy, sizeof copy);
    cache_hash_init(&hash);
    cache_hash_add(&hash, padded, sizeof padded);
    cache_hash_add(&hash, entries, (size_t)head->count * sizeof *entries);
    return cache_hash_end(&hash);
}

static uint64_t entries_at(void)
{
    return cache_aligned(sizeof(struct shelf_head));
}

static int compare_keys(uint32_t kind, uint32_t number, uint32_t kind2, uint32_t number2)
{
    return kind != kind2 ? COMPARE(kind, kind2) : COMPARE(number, number2);
}

/* Is it whole, and of this capture? */
static bool is_sound(const struct shelf *shelf, const struct cache_key *key)
{
    const struct shelf_head *head = shelf->head;
    if (memcmp(head->magic, SHELF_MAGIC, sizeof head->magic) != 0 ||
        memcmp(&head->key, key, sizeof *key) != 0 || head->file_bytes != shelf->len ||
        head->count > SHELF_ENTRIES_MAX ||
        shelf->len < entries_at() + head->count * sizeof *shelf->entries ||
        head->sum != head_sum(head, shelf->entries)) {
        return false;
    }
    for (uint64_t i = 0; i < head->count; i++) {
        const struct shelf_entry *entry = &shelf->entries[i];
        if (entry->kind >= SHELF_KINDS || entry->at % CACHE_ALIGN != 0 || entry->at > shelf->len ||
            entry->bytes == 0 || entry->bytes > shelf->len - entry->at) {
            return false;
        }
    }
    return true;
}

static void shelf_close(struct shelf *shelf)
{
    if (shelf != NULL) {
        (void)munmap(shelf->bytes, shelf->len);
        (void)close(shelf->fd);
        free(shelf);
    }
}

void shelf_free(struct trace_own *own)
{
    shelf_close(own->shelf);
    own->shelf = NULL;
}

/* Takes the descriptor, also where it fails. */
static struct shelf *shelf_map(int fd, const struct cache_key *key)
{
    struct stat st;
    struct shelf *shelf = calloc(1, sizeof *shelf);
    if (shelf == NULL || fstat(fd, &st) != 0 || st.st_size < (off_t)entries_at()) {
        (void)close(fd);
        free(shelf);
        return NULL;
    }
    shelf->fd = fd;
    shelf->len = (size_t)st.st_size;
    void *bytes = mmap(NULL, shelf->len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        (void)close(fd);
        free(shelf);
        return NULL;
    }
    shelf->bytes = bytes;
    shelf->head = (const void *)shelf->bytes;
    shelf->entries = (const void *)(shelf->bytes + entries_at());
    if (!is_sound(shelf, key)) {
        shelf_close(shelf);
        return NULL;
    }
    return shelf;
}

void shelf_open(struct trace *trace, const struct cache_folder *folder)
{
    struct trace_own *own = trace_own(trace);
    struct cache_key key;
    struct buf name = {0};
    if (cache_file_name(own->file, "figures", &name, &key) == 0) {
        int fd = cache_folder_find(folder, buf_text(&name));
        if (fd >= 0 && cache_seal_holds(folder, buf_text(&name), fd, key.layout)) {
            own->shelf = shelf_map(fd, &key);
        } else if (fd >= 0) {
            (void)close(fd);
        }
    }
    buf_free(&name);
}

static const struct shelf_entry *find_entry(const struct shelf *shelf, uint32_t kind,
                                            uint32_t number)
{
    uint64_t at = 0;
    if (shelf == NULL) {
        return NULL;
    }
    BISECT(uint64_t, at, shelf->head->count, mid,
           compare_keys(shelf->entries[mid].kind, shelf->entries[mid].number, kind, number) < 0)
    const struct shelf_entry *entry = &shelf->entries[at];
    return at < shelf->head->count && entry->kind == kind && entry->number == number ? entry : NULL;
}

void *shelf_get(const struct trace *trace, enum shelf_kind kind, uint32_t number, size_t *bytes)
{
    const struct trace_own *own = trace_own(trace);
    const struct shelf_entry *entry =
        own == NULL ? NULL : find_entry(own->shelf, (uint32_t)kind, number);
    if (entry != NULL) {
        (void)atomic_fetch_or(&own->shelf->used, 1U << entry->kind);
    }
    *bytes = entry == NULL ? 0 : (size_t)entry->bytes;
    return entry == NULL ? NULL : own->shelf->bytes + entry->at;
}

void *shelf_array(const struct trace *trace, enum shelf_kind kind, uint32_t number, size_t bytes)
{
    size_t found = 0;
    void *array = shelf_get(trace, kind, number, &found);
    return found == bytes ? array : NULL;
}

bool shelf_is_there(const struct trace *trace)
{
    return trace_own(trace) != NULL && trace_own(trace)->shelf != NULL;
}

int shelf_compare(const struct trace *trace, const atomic_bool *stop)
{
    struct shelf *shelf = trace_own(trace)->shelf;
    if (shelf == NULL) {
        return 0;
    }
    uint32_t kinds = atomic_load(&shelf->used) & ~atomic_load(&shelf->compared);
    for (uint64_t i = 0; kinds != 0 && i < shelf->head->count; i++) {
        const struct shelf_entry *entry = &shelf->entries[i];
        if ((kinds >> entry->kind & 1U) != 0 &&
            cache_compare_part(shelf->fd, entry->at, entry->bytes, entry->sum, stop) != 0) {
            return -1;
        }
    }
    (void)atomic_fetch_or(&shelf->compared, kinds);
    return 0;
}

/* ---- what is to be kept ---- */

static void put_item(struct shelf_list *list, const struct shelf_item *item)
{
    struct shelf_item *items =
        item->bytes == 0 || list->failed
            ? NULL
            : array_grow(list->items, &list->cap, list->count + 1, sizeof *items);
    if (items != NULL) {
        list->items = items;
        list->items[list->count++] = *item;
    } else if (item->bytes > 0) {
        list->failed = true;
    }
}

void shelf_put(struct shelf_list *list, enum shelf_kind kind, uint32_t number, const void *data,
               size_t bytes)
{
    put_item(list, &(struct shelf_item){
                       .kind = (uint32_t)kind, .number = number, .bytes = bytes, .data = data});
}

void shelf_put_made(struct shelf_list *list, enum shelf_kind kind, uint32_t number, size_t bytes,
                    void (*make)(const void *arg, void *out), const void *arg)
{
    put_item(
        list,
        &(struct shelf_item){
            .kind = (uint32_t)kind, .number = number, .bytes = bytes, .make = make, .arg = arg});
}

void shelf_list_free(struct shelf_list *list)
{
    free(list->items);
    *list = (struct shelf_list){0};
}

bool shelf_lacks(const struct trace *trace, const struct shelf_list *list)
{
    const struct shelf *shelf = trace_own(trace)->shelf;
    for (size_t i = 0; i < list->count; i++) {
        if (find_entry(shelf, list->items[i].kind, list->items[i].number) == NULL) {
            return !list->failed;
        }
    }
    return false;
}

static int item_order(const void *a, const void *b)
{
    const struct shelf_item *x = a;
    const struct shelf_item *y = b;
    return compare_keys(x->kind, x->number, y->kind, y->number);
}

/* What is kept already and not in the list stays. */
static void add_old(const struct shelf *shelf, struct shelf_list *list)
{
    size_t fresh = list->count;
    for (uint64_t i = 0; shelf != NULL && i < shelf->head->count; i++) {
        const struct shelf_entry *entry = &shelf->entries[i];
        bool anew = false;
        for (size_t k = 0; k < fresh && !anew; k++) {
            anew = list->items[k].kind == entry->kind; /* a kind is kept as a whole */
        }
        if (!anew) {
            shelf_put(list, (enum shelf_kind)entry->kind, entry->number, shelf->bytes + entry->at,
                      (size_t)entry->bytes);
        }
    }
}

static int write_item(int fd, const struct shelf_item *item, struct shelf_entry *entry,
                      const atomic_bool *stop)
{
    void *made = item->data == NULL ? malloc(item->bytes) : NULL;
    const void *data = item->data == NULL ? made : item->data;
    int status = -1;
    if (made != NULL) {
        item->make(item->arg, made);
    }
    if (data != NULL) {
        status = cache_put_padded(fd, data, item->bytes, stop, &entry->sum);
    }
    free(made);
    return status;
}

static int write_all(int fd, const struct shelf_list *list, struct shelf_head *head,
                     struct shelf_entry *entries, const atomic_bool *stop)
{
    uint64_t at = cache_aligned(entries_at() + list->count * sizeof *entries);
    int status = lseek(fd, (off_t)at, SEEK_SET) < 0 ? -1 : 0;
    for (size_t i = 0; status == 0 && i < list->count; i++) {
        const struct shelf_item *item = &list->items[i];
        entries[i] = (struct shelf_entry){
            .kind = item->kind, .number = item->number, .at = at, .bytes = item->bytes};
        status = write_item(fd, item, &entries[i], stop);
        at += cache_aligned(item->bytes);
    }
    head->count = list->count;
    head->file_bytes = at;
    head->sum = head_sum(head, entries);
    if (status == 0) {
        status = lseek(fd, 0, SEEK_SET) != 0 || cache_folder_write(fd, head, sizeof *head) != 0 ||
                         lseek(fd, (off_t)entries_at(), SEEK_SET) < 0 ||
                         cache_folder_write(fd, entries, list->count * sizeof *entries) != 0 ||
                         ftruncate(fd, (off_t)at) != 0
                     ? -1
                     : 0;
    }
    return status;
}

static int save_into(const struct cache_folder *folder, const char *name,
                     const struct shelf_list *list, const struct cache_key *key,
                     const atomic_bool *stop)
{
    struct cache_part part;
    struct shelf_head head = {.key = *key};
    struct shelf_entry *entries = calloc(list->count + 1, sizeof *entries);
    int status = -1;
    memcpy(head.magic, SHELF_MAGIC, sizeof head.magic);
    if (cache_folder_begin(folder, "", &part) == 0 && entries != NULL) {
        status = write_all(part.fd, list, &head, entries, stop);
    }
    status = cache_finish(&part, name, key->layout, status);
    int code = errno;
    free(entries);
    errno = code;
    return status;
}

int shelf_save(const struct trace *trace, struct shelf_list *list, const atomic_bool *stop,
               struct err *err)
{
    const struct trace_own *own = trace_own(trace);
    struct cache_folder folder = {.fd = -1};
    struct cache_key key;
    struct buf name = {0};
    int status = 0;
    add_old(own->shelf, list);
    if (!list->failed && store_file_check(own->file, NULL) == 0 &&
        cache_file_name(own->file, "figures", &name, &key) == 0) {
        sort_list(list->items, list->count, sizeof *list->items, item_order);
        status = cache_folder_open(&folder, err);
        folder.limit_mib = own->cache_mib > 0 ? own->cache_mib : folder.limit_mib;
        errno = 0;
        if (status == 0 && save_into(&folder, buf_text(&name), list, &key, stop) != 0) {
            status = err_set(err, "%s: cannot be written to: %s", buf_text(&folder.path),
                             errno != 0 ? strerror(errno) : "others can read what is there");
        }
    }
    cache_folder_close(&folder);
    buf_free(&name);
    return status;
}
