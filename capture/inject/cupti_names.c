/*
 * Kernel names. A record holds the address of its kernel's name in CUPTI's memory, which dies with
 * the process, or earlier, with the module. So each name is copied into the spool once, and the
 * record gets its string id instead.
 *
 * Two tables with open addressing and linear probing (Knuth, TAOCP 6.4): address -> id, and text ->
 * id, O(1) each. The same address may come to hold another text after a module was unloaded; so a
 * text is compared once in each buffer. It is read with process_vm_readv, which fails where plain
 * reading would be a segmentation fault of the program.
 */
#define _GNU_SOURCE /* process_vm_readv, mremap, MAP_ANONYMOUS; NOLINT */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/inject/inject.h"

#define FIRST_CAPACITY 1024 /* power of two */
#define NAME_BYTES (UINT32_C(32) << 10)
#define CHUNK_BYTES (UINT32_C(256) << 10)

struct name_entry {
    uint64_t key; /* address, or hash of the text; 0 = empty */
    uint64_t id;
    uint64_t serial; /* addresses: buffer in which the text was last compared */
    const char *text;
    uint32_t bytes;
};

struct name_table {
    struct name_entry *entries;
    uint32_t capacity;
    uint32_t count;
};

struct cupti_names {
    struct name_table addresses;
    struct name_table texts;
    char *chunk;
    size_t chunk_left;
    bool direct; /* process_vm_readv is not allowed here */
    char room[NAME_BYTES];
};

static void *map_memory(size_t bytes)
{
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

static uint64_t mix(uint64_t key)
{
    /* Finalizer of SplitMix64 (Steele, Lea, Flood 2014). */
    key = (key ^ key >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ key >> 27) * UINT64_C(0x94d049bb133111eb);
    return key ^ key >> 31;
}

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint64_t hash_text(const char *text, uint32_t bytes)
{
    uint64_t value = UINT64_C(14695981039346656037);
    for (uint32_t i = 0; i < bytes; i++) {
        value = (value ^ (uint8_t)text[i]) * UINT64_C(1099511628211);
    }
    return value == 0 ? 1 : value;
}

static bool entry_is(const struct name_entry *entry, uint64_t key, const char *text, uint32_t bytes)
{
    return entry->key == key &&
           (text == NULL || (entry->bytes == bytes && memcmp(entry->text, text, bytes) == 0));
}

/* The entry of KEY (and TEXT, if not NULL), or the empty one where it belongs. */
static struct name_entry *probe(const struct name_table *table, uint64_t key, const char *text,
                                uint32_t bytes)
{
    uint64_t at = mix(key);
    for (;; at++) {
        struct name_entry *entry = &table->entries[at & (table->capacity - 1)];
        if (entry->key == 0 || entry_is(entry, key, text, bytes)) {
            return entry;
        }
    }
}

/* Keeps the table at most half full. False if there is no memory: what is in it stays good. */
static bool make_room(struct name_table *table)
{
    if (table->count * 2 < table->capacity) {
        return true;
    }
    struct name_table grown = {NULL, table->capacity == 0 ? FIRST_CAPACITY : table->capacity * 2,
                               table->count};
    grown.entries = map_memory(grown.capacity * sizeof(*grown.entries));
    if (grown.entries == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < table->capacity; i++) {
        const struct name_entry *entry = &table->entries[i];
        if (entry->key != 0) {
            *probe(&grown, entry->key, entry->text, entry->bytes) = *entry;
        }
    }
    if (table->entries != NULL) {
        (void)munmap(table->entries, table->capacity * sizeof(*table->entries));
    }
    *table = grown;
    return true;
}

static const char *keep_text(struct cupti_names *names, const char *text, uint32_t bytes)
{
    if (bytes > names->chunk_left) {
        names->chunk = map_memory(CHUNK_BYTES);
        names->chunk_left = names->chunk == NULL ? 0 : CHUNK_BYTES;
        if (names->chunk == NULL) {
            return NULL;
        }
    }
    char *kept = names->chunk;
    memcpy(kept, text, bytes);
    names->chunk += bytes;
    names->chunk_left -= bytes;
    return kept;
}

/* Where the kernel does not let us ask (seccomp): the text is read as every other recorder reads
 * it. */
static int64_t read_directly(struct cupti_names *names, uint64_t address)
{
    const char *text = (const char *)(uintptr_t)address; /* NOLINT: it is an address */
    size_t bytes = strnlen(text, NAME_BYTES);
    memcpy(names->room, text, bytes);
    return (int64_t)bytes;
}

/* Copies the text at ADDRESS into the room, page by page. Returns its length, or -1 where it cannot
 * be read. */
static int64_t read_text(struct cupti_names *names, uint64_t address)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint32_t have = 0;
    while (have < NAME_BYTES) {
        uint64_t from = address + have;
        size_t want = (size_t)(page - from % page);
        want = want < NAME_BYTES - have ? want : NAME_BYTES - have;
        struct iovec local = {names->room + have, want};
        struct iovec remote = {(void *)(uintptr_t)from, want}; /* NOLINT: it is an address */
        ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
        if (got <= 0) {
            if (got < 0 && (errno == EPERM || errno == ENOSYS) && have == 0) {
                names->direct = true;
                return read_directly(names, address);
            }
            return -1;
        }
        const char *zero = memchr(names->room + have, '\0', (size_t)got);
        if (zero != NULL) {
            return zero - names->room;
        }
        have += (uint32_t)got;
    }
    return have;
}

/* The id of the text in the room, new or known; 0 if there is no memory. */
static uint64_t intern(struct cupti_names *names, uint32_t bytes, uint64_t address,
                       struct spool_writer *writer)
{
    if (!make_room(&names->texts)) {
        return 0;
    }
    uint64_t key = hash_text(names->room, bytes);
    struct name_entry *entry = probe(&names->texts, key, names->room, bytes);
    if (entry->key != 0) {
        return entry->id;
    }
    const char *kept = keep_text(names, names->room, bytes);
    if (kept == NULL) {
        return 0;
    }
    entry->key = key;
    entry->id = atomic_fetch_add(&inject.nvtx.strings, 1) + 1;
    entry->text = kept;
    entry->bytes = bytes;
    names->texts.count++;
    struct spool_meta head = {.kind = SPOOL_META_STRING};
    head.value[0] = entry->id;
    head.value[1] = address;
    spool_writer_meta(writer, &head, kept, bytes);
    return entry->id;
}

uint64_t cupti_name(struct cupti_state *cupti, uint64_t address, uint64_t serial,
                    struct spool_writer *writer)
{
    struct cupti_names *names = cupti->names;
    if (names == NULL) {
        names = map_memory(sizeof(*names));
        cupti->names = names;
    }
    if (address == 0 || names == NULL || !make_room(&names->addresses)) {
        return SPOOL_NAME_TAG;
    }
    struct name_entry *entry = probe(&names->addresses, address, NULL, 0);
    if (entry->key != 0 && entry->serial == serial) {
        return SPOOL_NAME_TAG | entry->id;
    }
    int64_t bytes = names->direct ? read_directly(names, address) : read_text(names, address);
    if (bytes < 0) {
        return SPOOL_NAME_TAG;
    }
    bool same = entry->key != 0 && entry->id != 0 && entry->bytes == (uint32_t)bytes &&
                memcmp(entry->text, names->room, (size_t)bytes) == 0;
    if (!same) {
        uint64_t id = intern(names, (uint32_t)bytes, address, writer);
        const struct name_entry *text =
            id == 0 ? NULL
                    : probe(&names->texts, hash_text(names->room, (uint32_t)bytes), names->room,
                            (uint32_t)bytes);
        names->addresses.count += entry->key == 0 ? 1 : 0;
        entry->key = address;
        entry->id = id;
        entry->text = text == NULL ? NULL : text->text;
        entry->bytes = (uint32_t)bytes;
    }
    entry->serial = serial;
    return SPOOL_NAME_TAG | entry->id;
}
