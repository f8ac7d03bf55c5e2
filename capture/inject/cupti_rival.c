/*
 * Another profiler in the program (PyTorch's is one) that registers activity callbacks of its own:
 * CUPTI then gives its buffers to that one, ours among them, without a word to us; subscribing first
 * does not keep it from that.
 *
 * CUPTI keeps the two callbacks in neighbouring words of its data (looked at in 11.8, 12.1, 12.6,
 * 12.9 and 13.0). They are found by their values right after they were registered, and read at each
 * tick of our thread. Where they are not found, it shows at the end: the forced flush gives every
 * buffer back, so one of ours with records in it that did not come back went to somebody else.
 *
 * From then on CUPTI is left alone: a flush would hand the other one its buffers early, and it may
 * count them. What is launched is counted by callbacks of our own subscription. Buffers of ours that
 * it got are only read: it may have them still.
 */
#define _GNU_SOURCE /* dladdr, dl_iterate_phdr; NOLINT */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "capture/inject/inject.h"

#define CALLBACK_IDS 1024

/* Calls of the driver, by how their names begin, and the kind of record that each leaves. The first
 * that fits decides. */
static const struct {
    const char *begins;
    uint16_t kind; /* 0: none */
} calls[] = {
    {"cuLaunchHostFunc", 0},
    {"cuLaunch", CUPTI_KIND_CONCURRENT_KERNEL},
    {"cuGraphLaunch", CUPTI_KIND_GRAPH_TRACE},
    {"cuMemcpy", CUPTI_KIND_MEMCPY},
    {"cu64Memcpy", CUPTI_KIND_MEMCPY},
    {"cuMemset", CUPTI_KIND_MEMSET},
    {"cu64Memset", CUPTI_KIND_MEMSET},
};

static uint16_t kind_of_call(uint32_t cbid)
{
    const char *name = cupti_driver_name(cbid);
    for (size_t i = 0; name != NULL && i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strncmp(name, calls[i].begins, strlen(calls[i].begins)) == 0) {
            return calls[i].kind;
        }
    }
    return 0;
}

/* The two words as CUPTI has them. */
struct callbacks {
    cupti_request_fn request;
    cupti_complete_fn complete;
};

static bool are_ours(const void *words)
{
    const struct callbacks ours = {cupti_buffer_request, cupti_buffer_complete};
    return memcmp(words, &ours, sizeof(ours)) == 0;
}

struct search {
    const void *base; /* of the library */
    const void *found;
    uint32_t count;
};

/* Looks through the writable data of the library. It is another's: what the sanitizers think of its
 * bytes says nothing. */
__attribute__((no_sanitize("address", "undefined"))) static int look(struct dl_phdr_info *info,
                                                                     size_t size, void *data)
{
    struct search *search = data;
    (void)size;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W) == 0 ||
            (const void *)info->dlpi_addr != search->base) { /* NOLINT: an address */
            continue;
        }
        begin = (begin + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
        uintptr_t end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
        for (; begin + sizeof(struct callbacks) <= end; begin += sizeof(void *)) {
            const struct callbacks *at = (const struct callbacks *)begin; /* NOLINT: an address */
            if (at->request == cupti_buffer_request && at->complete == cupti_buffer_complete) {
                search->found = at;
                search->count++;
            }
        }
    }
    return 0;
}

void cupti_rival_watch(struct cupti_state *cupti)
{
    struct search search = {NULL, NULL, 0};
    Dl_info info;
    void *symbol = NULL;
    memcpy(&symbol, &cupti->call.register_callbacks, sizeof(symbol));
    if (dladdr(symbol, &info) == 0) {
        return;
    }
    search.base = info.dli_fbase;
    (void)dl_iterate_phdr(look, &search);
    cupti->rival.place = search.count == 1 ? search.found : NULL;
}

/* The library that has the callbacks now. */
static const char *owner_of(const void *place)
{
    Dl_info info;
    void *request = NULL;
    memcpy(&request, place, sizeof(request));
    if (request == NULL || dladdr(request, &info) == 0 || info.dli_fname == NULL) {
        return "";
    }
    const char *slash = strrchr(info.dli_fname, '/');
    return slash == NULL ? info.dli_fname : slash + 1;
}

/* Has what is launched from now on counted. */
static void count_launches(struct cupti_state *cupti)
{
    for (uint32_t cbid = 1; cbid < cupti_driver_count() && cbid < CALLBACK_IDS; cbid++) {
        if (kind_of_call(cbid) != 0) {
            (void)cupti->call.enable_callback(1, cupti->subscriber, CUPTI_DOMAIN_DRIVER_API, cbid);
        }
    }
}

/* Notes the names of kernels in our buffers while they can be read. */
static void learn_names(struct cupti_state *cupti)
{
    for (uint32_t i = 0; i < CUPTI_SLOTS; i++) {
        struct cupti_slot *slot = &cupti->slots[i];
        if (atomic_load_explicit(&slot->state, memory_order_acquire) == CUPTI_SLOT_OUT) {
            cupti_learn(cupti, slot, &inject.writer);
        }
    }
}

bool cupti_rival_is_there(struct cupti_state *cupti)
{
    const void *place = cupti->rival.place;
    if (cupti->rival.there || place == NULL || are_ours(place)) {
        return cupti->rival.there;
    }
    cupti->rival.there = true;
    spool_writer_status(&inject.writer, SPOOL_STATUS_CUPTI_INTERFERED, SPOOL_RIVAL_REPLACED, 1,
                        owner_of(place));
    /* Our buffers go to it at its next flush in any case. Then all that follows is missing. */
    (void)cupti->call.flush_all(CUPTI_FLUSH_COMPLETED);
    count_launches(cupti);
    learn_names(cupti);
    return true;
}

void cupti_rival_count(uint32_t cbid, int site)
{
    struct spool_writer *writer = inject_spool_now();
    uint16_t kind = site == CUPTI_SITE_ENTER ? kind_of_call(cbid) : 0;
    if (kind != 0 && writer != NULL && session_control_collecting(inject.control)) {
        spool_writer_loss(writer, SPOOL_LOSS_RIVAL, kind, 1);
    }
}

/* Whether CUPTI wrote a record into a buffer that it has. */
static bool has_records(const struct cupti_slot *slot)
{
    uint32_t kind = 0;
    memcpy(&kind, slot->buffer, sizeof(kind));
    return slot->segment != NULL && kind != 0;
}

void cupti_rival_before_end(struct cupti_state *cupti)
{
    for (uint32_t i = 0; i < CUPTI_SLOTS; i++) {
        struct cupti_slot *slot = &cupti->slots[i];
        if (atomic_load_explicit(&slot->state, memory_order_acquire) == CUPTI_SLOT_OUT) {
            slot->expected = has_records(slot);
        }
    }
}

void cupti_rival_at_end(struct cupti_state *cupti)
{
    for (uint32_t i = 0; i < CUPTI_SLOTS && !cupti->rival.there; i++) {
        struct cupti_slot *slot = &cupti->slots[i];
        if (atomic_load(&slot->state) == CUPTI_SLOT_OUT && slot->expected) {
            cupti->rival.there = true;
            spool_writer_status(&inject.writer, SPOOL_STATUS_CUPTI_INTERFERED, SPOOL_RIVAL_KEPT, 0,
                                "");
        }
    }
    if (cupti->rival.there) {
        learn_names(cupti);
    }
}
