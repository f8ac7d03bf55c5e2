/*
 * The injected library's one context, and what its modules offer to each other.
 *
 *   inject.c       entry points, start, exit, fork          (the only exported symbols: export.map)
 *   nvtx.c         NVTX events: the hot path                nvtx_names.c   domains, strings, names
 * nvtx_ext.c   payloads nvtx_range.c   capture range by NVTX cupti.c        CUPTI: subscribe,
 * enable, callbacks      cupti_find.c   which libcupti             cupti_filter.c cupti_buffer.c
 * buffers between CUPTI and the spool      cupti_scan.c   walking what came back     cupti_thread.c
 *
 * Threads: any thread of the program runs the NVTX functions and CUPTI's callbacks; one thread of
 * ours (CUDA processes only) flushes CUPTI, walks buffers and prepares new ones. Locks: inject.lock
 * (start, making the spool, names) is taken before spool_writer.lock, never the other way; none is
 * held across a call into CUPTI.
 */
#ifndef CUTLINE_CAPTURE_INJECT_INJECT_H
#define CUTLINE_CAPTURE_INJECT_INJECT_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/inject/nvtx_abi.h"
#include "capture/spool/cupti_abi.h"
#include "capture/spool/ranges.h"
#include "capture/spool/session.h"
#include "capture/spool/spool_write.h"

#define INJECT_DIR_BYTES (SPOOL_PATH_BYTES - 128)

#define CUPTI_SLOTS (UINT32_C(1) << 16)
#define CUPTI_POOL 1024
#define CUPTI_INTERVALS 512
#define CUPTI_FILTER_IDS 1024

#define NVTX_LEVELS 16

#define INJECT_NAME_BYTES 16 /* of a thread, as the kernel has it, with its zero */

/* A META record that is kept in memory, because every spool of a forked child needs it again. */
struct nvtx_note {
    _Atomic(struct nvtx_note *) next;
    struct spool_meta head;
    uint32_t made; /* inject.spool_serial when it was made */
    _Atomic uint32_t written; /* the serial of the spool that has it; 0: none */
    uint32_t text_bytes;
    bool wanted; /* domains: recorded */
    bool is_cut; /* the text went on behind SPOOL_TEXT_MAX bytes */
    char *text; /* behind the note; not terminated */
};

/* The open ranges of a thread in one domain. */
struct nvtx_level {
    uint32_t depth;
    uint32_t left_out; /* bit N: the push of level N was left out as asked, so its pop has to be */
};

/* Events are written by threads into segments of their own. */
struct nvtx_thread {
    uint8_t *at; /* next record */
    uint8_t *end; /* end of the segment */
    struct spool_segment *segment; /* NULL: none yet */
    uint8_t *next; /* behind the record that is being written */
    volatile uint8_t busy; /* recording: an event from a signal handler is dropped */
    bool begun; /* it has had a segment */
    uint32_t tid;
    uint32_t serial; /* of the thread in this process, from 1 */
    uint32_t ranges; /* made by start, for ids */
    uint32_t next_bytes; /* size of the next segment */
    uint64_t time; /* of the last record, in the clock of the events */
    uint64_t look_time; /* from then on its name in the system and the clocks are looked at */
    char name[INJECT_NAME_BYTES]; /* the name that was written */
    struct nvtx_level levels[NVTX_LEVELS]; /* by domain; in later ones levels are not known */
};

struct nvtx_state {
    bool trigger; /* an NVTX range opens the capture range */
    bool use_tsc;
    pthread_key_t key; /* runs the end of a thread */
    bool key_made;
    _Atomic uint32_t threads; /* serials given */
    _Atomic uint32_t attached; /* clients */
    _Atomic uint64_t anchor_time; /* of an event: from then on the next clock anchor is taken */
    _Atomic uint64_t strings; /* ids given, kernel names among them */
    uint32_t domains;
    _Atomic uint32_t schemas;
    uint32_t loose_notes; /* notes without a handle, bounded */
    _Atomic(struct nvtx_note *) notes; /* oldest first; only grows */
    struct nvtx_note *last_note; /* or one shortly before the last */
    struct nvtx_note default_domain;
    _Atomic uint64_t range_id; /* capture range opened by start/end: its id */
    uint32_t seen_count; /* RANGE_SEEN texts so far */
    uint64_t seen[16]; /* their hashes */
};

/* A buffer that CUPTI has, or gave back. */
enum cupti_slot_state {
    CUPTI_SLOT_FREE,
    CUPTI_SLOT_CLAIMED,
    CUPTI_SLOT_OUT,
    CUPTI_SLOT_DONE
};
struct cupti_slot {
    _Atomic uint32_t state;
    _Atomic(uint8_t *) buffer;
    size_t size;
    size_t valid;
    struct spool_segment *segment; /* NULL: scratch memory */
    struct cupti_slot *next; /* in the list of those given back */
    enum spool_loss why; /* scratch: why */
    bool expected; /* at the end: it holds records and must come back */
};

/* A stretch of collecting, in CLOCK_REALTIME ns. */
struct cupti_interval {
    int64_t begin_ns;
    int64_t end_ns;
};

struct cupti_names; /* cupti_names.c */

/* Another profiler that took CUPTI's buffers over (cupti_rival.c). Only our thread has it. */
struct cupti_rival {
    const void *place; /* of our callbacks in CUPTI's data; NULL: not found */
    _Atomic bool there;
};

struct cupti_state {
    struct cupti_functions call;
    void *library;
    char path[1024];
    uint32_t version;
    _Atomic bool active; /* subscribed, in this process */
    _Atomic bool forked; /* this is a forked child: no CUPTI call any more */
    void *subscriber;
    int subscribe_result;
    uint64_t segment_bytes; /* of a buffer while there are few of them */
    uint64_t out_max_bytes; /* budget */
    _Atomic uint64_t out_bytes; /* room of the buffers that CUPTI has */
    _Atomic uint64_t
        waiting_bytes; /* what it wrote into those that it gave back, not handled yet */
    _Atomic uint32_t out_count;
    _Atomic uint32_t out_most; /* the most that were out at once */
    uint16_t sizes[SPOOL_CUPTI_KINDS];
    uint64_t
        filtered_runtime[CUPTI_FILTER_IDS / 64]; /* callback ids whose records the walk blanks */
    uint64_t filtered_driver[CUPTI_FILTER_IDS / 64];
    _Atomic bool context_seen;
    _Atomic bool range_open; /* capture range: cudaProfilerStart in this process */
    _Atomic bool interfered;
    bool device_graphs; /* CUPTI records graphs that a device launches */
    _Atomic bool um_started;
    struct cupti_rival rival;
    struct cupti_slot *slots; /* CUPTI_SLOTS, by the address of the buffer */
    _Atomic uint32_t slots_far; /* how far from its place a buffer was entered at most */
    _Atomic(struct cupti_slot *) done; /* given back, newest first */
    _Atomic(struct spool_segment *) pool[CUPTI_POOL];
    _Atomic uint32_t pool_count;
    _Atomic uint32_t pool_wanted;
    struct spool_segment *packed; /* where records of nearly empty buffers are gathered */
    struct cupti_names *names;
    struct cupti_interval intervals[CUPTI_INTERVALS];
    uint32_t interval_count;
    bool intervals_all; /* false: there were earlier ones */
    pthread_t thread;
    bool thread_runs;
    sem_t wake;
    sem_t finished;
    _Atomic bool finish;
    _Atomic bool finishing;
    _Atomic bool flush_asked;
    int flush_result; /* of the last flush */
    _Atomic bool flush_hung;
    _Atomic bool flushed_at_end; /* nothing more will come that a kill could lose */
    uint64_t buffers_walked;
    uint64_t records_walked;
};

/* The capture range of this process (range.c). */
struct inject_range {
    struct session_ranges ranges;
    pthread_mutex_t lock;
    struct cupti_interval stretches[CUPTI_INTERVALS]; /* the newest; a ring */
    uint32_t count; /* so many there were */
    bool said_early;
};

/* What opened it: the text and the domain of an NVTX range; "" and 0 otherwise. */
struct inject_range_text {
    const char *text;
    size_t bytes;
    uint32_t domain;
};

enum inject_spool_state {
    INJECT_SPOOL_NONE,
    INJECT_SPOOL_READY,
    INJECT_SPOOL_FAILED
};

struct inject {
    pthread_mutex_t lock;
    _Atomic int started; /* 0 not yet, 1 usable, -1 not usable */
    struct session_config config;
    struct session_control *control;
    char dir[INJECT_DIR_BYTES];
    struct spool_place place;
    _Atomic int spool_state;
    struct spool_writer writer;
    uint32_t spool_serial; /* 1, and one more in each forked child: which spool a note is in */
    uint32_t forked_from;
    /* INJECT_OWN while this process is the one that set the recorder up. The page of it is cleared
     * in a child that a fork makes, however it was made: pthread_atfork knows fork() alone. */
    _Atomic uint32_t *own;
    bool own_is_cleared; /* the kernel does so (Linux 4.14) */
    _Atomic uint64_t dropped_in_fork;
    _Atomic bool exited;
    uint8_t *arena;
    size_t arena_left;
    struct inject_range range;
    struct nvtx_state nvtx;
    struct cupti_state cupti;
};

extern struct inject inject;

#define INJECT_OWN 1

/* Reads the session once. False: this process is not recorded. */
bool inject_start(void);

/* Whether this is a forked child that still has its parent's spool and buffers. Then nothing may be
 * written before inject_after_fork. */
static inline bool inject_is_copy(void)
{
    return atomic_load_explicit(inject.own, memory_order_acquire) != INJECT_OWN;
}

/* Lets go of what is the parent's. False while another call of it is at work: the event that wants
 * it is dropped and counted. */
bool inject_after_fork(void);

/* The spool, made at the first call. NULL if it could not be made. Not with inject.lock held. */
struct spool_writer *inject_spool(void);

/* The spool if it is there. */
static inline struct spool_writer *inject_spool_now(void)
{
    if (inject_is_copy()) {
        (void)inject_after_fork();
        return NULL;
    }
    bool ready =
        atomic_load_explicit(&inject.spool_state, memory_order_acquire) == INJECT_SPOOL_READY;
    return ready ? &inject.writer : NULL;
}

/* True while events of this process are kept. */
static inline bool inject_collecting(void)
{
    return session_control_collecting(inject.control) &&
           atomic_load_explicit(&inject.range.ranges.collecting, memory_order_relaxed);
}

/* True when nothing of this process will be kept any more. */
static inline bool inject_over(void)
{
    return session_control_stopped(inject.control) || atomic_load(&inject.range.ranges.used_up);
}

/* range.c: the caller keeps open and close paired, and lets no two threads do it at once. Open is
 * false where no range may open now: the gate is not GO, or all that were wanted are recorded. */
void inject_range_start(void);
bool inject_range_open(const struct inject_range_text *text);
void inject_range_close(void);

/* The stretches of collecting, oldest first, up to CUPTI_INTERVALS; *all is false where older ones
 * are forgotten. */
uint32_t inject_range_stretches(struct cupti_interval *out, bool *all);

/* Memory that is never given back; NULL when there is none. With inject.lock held. */
void *inject_alloc(size_t bytes);

/* Hands the at-exit handler to exit(). The driver's own handler may have been registered since:
 * more than once is fine. */
void inject_at_exit(void);

/* nvtx.c */
void nvtx_start(void);
void nvtx_fork_child(void);
bool nvtx_enter(void); /* false: interrupted recorder, do nothing */
void nvtx_leave(void);

/* The fields of an event, before they become a record. */
struct nvtx_event {
    uint8_t type; /* enum spool_nvtx_type */
    const struct nvtx_note *domain;
    const struct nvtx_attributes *attributes; /* may be NULL */
    uint64_t range;
    const struct nvtx_payload_data
        *payloads; /* extended payload beside the attributes; may be NULL */
    size_t payload_count;
};

/* Records an event. Returns the level of a push or pop as NVTX has it: from 0 on, negative where
 * there is none. */
int nvtx_emit(const struct nvtx_event *event);

/* The two quick ways: a text in the default domain, and a pop. */
int nvtx_emit_text(uint8_t type, const char *text);
int nvtx_emit_pop(const struct nvtx_note *domain);
uint64_t nvtx_range_id(void);

/* nvtx_calls.c: fills the slots of a client; 1 if it could */
int nvtx_attach(nvtx_get_table_fn get_table);

/* nvtx_names.c */
const struct nvtx_note *nvtx_domain_of(const void *handle);
const struct nvtx_note *nvtx_note_add(const struct spool_meta *head, const char *text);
void nvtx_emit_notes(struct spool_writer *writer);

/* Writes a registered string that an event of this process has, once in each spool. */
void nvtx_string_write(const struct nvtx_note *note);
void nvtx_names_init(void);
extern nvtx_function const nvtx_core2_names[NVTX_CORE2_INITIALIZE + 1];
extern nvtx_function const nvtx_core_names[NVTX_CORE_NAME_OS_THREAD_W + 1];
extern nvtx_function const nvtx_cuda_names[NVTX_CUDA_NAME_CU_EVENT_W + 1];
extern nvtx_function const nvtx_cudart_names[NVTX_CUDART_NAME_CUDA_EVENT_W + 1];

/* UTF-8 of a wide text: bytes needed (at most LIMIT), and the conversion into exactly that many
 * bytes. */
size_t nvtx_wide_bytes(const wchar_t *text, size_t limit);
void nvtx_wide_put(uint8_t *to, size_t bytes, const wchar_t *text);

/* job.c: the place of this process in a job, where it is in one */
void inject_job(struct spool_writer *writer);

/* os_names.c: all three write only what has changed, and leave errno alone. */
void os_names_command(struct spool_writer *writer);
void os_names_self(struct nvtx_thread *thread, struct spool_writer *writer); /* of the caller */
void os_names_all(struct spool_writer *writer, bool at_exit);

/* nvtx_ext.c */
int nvtx_extension_attach(struct nvtx_extension *extension);

/* nvtx_range.c */
void nvtx_range_begin(const struct nvtx_event *event);
void nvtx_range_end(const struct nvtx_event *event);
void nvtx_range_fork_child(void);

/* cupti.c and its parts */
void cupti_start(void);
void cupti_fork_child(void);
bool cupti_is_forked(struct cupti_state *cupti); /* a forked child: leave CUPTI alone */
void cupti_exit(void);
/* How the search for a libcupti ended. */
enum cupti_found {
    CUPTI_FOUND_NONE, /* there is none; said in the spool */
    CUPTI_FOUND_REFUSED, /* none was taken of those that are there */
    CUPTI_FOUND_TAKEN
};
/* Loads one libcupti after the other, with `call`, `path` and `version` filled in, until TAKES is
 * true for it. */
enum cupti_found cupti_find(struct cupti_state *cupti, bool (*takes)(struct cupti_state *cupti));
uint32_t cupti_driver_version(void); /* as cuDriverGetVersion; 0 if unknown */
void *cupti_driver_symbol(const char *name); /* of the libcuda that is loaded; NULL */
uint32_t cupti_filter(struct cupti_state *cupti); /* applies the API filter; returns how many
                                                     callback ids it left out */
void cupti_buffer_request(uint8_t **buffer, size_t *size, size_t *max_records);
void cupti_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                           size_t valid);
bool cupti_buffer_start(struct cupti_state *cupti); /* false: no memory */
void cupti_buffer_fork_child(struct cupti_state *cupti);
void cupti_buffer_prepare(struct cupti_state *cupti); /* fills the pool */
void cupti_buffer_drain(struct cupti_state *cupti); /* handles what CUPTI gave back */

/* What the walk of one buffer found. */
struct cupti_walk {
    size_t bytes; /* up to the end of the last whole record */
    bool keep; /* something in it belongs into the capture */
};
struct cupti_walk cupti_scan(struct cupti_state *cupti, const struct cupti_slot *slot,
                             struct spool_writer *writer);
void cupti_count(struct cupti_state *cupti, const struct cupti_slot *slot,
                 struct spool_writer *writer); /* records of a scratch buffer, as lost */

/* Reads a buffer that CUPTI has still and notes the names in it; changes nothing. */
void cupti_learn(struct cupti_state *cupti, const struct cupti_slot *slot,
                 struct spool_writer *writer);

/* Says what a failed call means; true if it was a success. From a thread of the program. */
bool cupti_check(int result, uint32_t kind, const char *function);

/* cupti_optional.c. Before any kind is enabled: */
void cupti_optional_start(struct cupti_state *cupti);
/* Once the driver has started: */
void cupti_um_start(struct cupti_state *cupti);
/* Asks for the callbacks of calls that end a context, and flushes before such a call; true if it is
 * one. */
void cupti_ends_enable(struct cupti_state *cupti);
bool cupti_ends(struct cupti_state *cupti, int domain, uint32_t cbid, int site);

/* cupti_rival.c. After the callbacks were registered: */
void cupti_rival_watch(struct cupti_state *cupti);
/* Whether CUPTI's buffers go to another profiler; from our thread, at each tick. */
bool cupti_rival_is_there(struct cupti_state *cupti);
/* A call of the driver, for which a callback is on. */
void cupti_rival_count(uint32_t cbid, int site);
/* Around the forced flush at the end. */
void cupti_rival_before_end(struct cupti_state *cupti);
void cupti_rival_at_end(struct cupti_state *cupti);

/* cupti_names.c: the id of the text at ADDRESS, as the name field of a scanned record holds it
 * (SPOOL_NAME_TAG | id). A text is looked at again in each buffer (SERIAL): memory may have got a
 * new text since. Only the thread of ours calls it. */
uint64_t cupti_name(struct cupti_state *cupti, uint64_t address, uint64_t serial,
                    struct spool_writer *writer);

void cupti_read_intervals(struct cupti_state *cupti);
void cupti_graph_enable(struct cupti_state *cupti); /* asks for the callbacks about graphs */
void cupti_graph(struct cupti_state *cupti, uint32_t cbid, const struct cupti_graph_data *data);
bool cupti_thread_start(struct cupti_state *cupti);
void cupti_thread_finish(struct cupti_state *cupti);
void cupti_say_flushed(struct cupti_state *cupti);

#endif
