/*
 * The spool: the file in which one recorded process leaves what it saw, and its reader.
 *
 * A spool is written through shared mappings, so that what was published is in the file even if the
 * process is killed: the kernel owns the pages. Nothing in it is ever needed from the process
 * again.
 *
 * File: two header pages (struct spool_header, struct spool_losses), then segments, each a multiple
 * of 4096 bytes:
 *
 *   offset 0      struct spool_header
 *   offset 4096   struct spool_losses   counters of what is not in the file
 *   offset 8192   segment, segment, ... each begins with struct spool_segment
 *
 * A page of zeros where a segment should begin is a segment that never came to be (killed between
 * growing the file and writing its head): the reader steps over it page by page.
 *
 * Publishing. A writer fills records behind `published`, then stores the new `published` with
 * release order: bytes below it are whole records, bytes above mean nothing, except in CUPTI
 * segments (next). Segment states: SPOOL_STATE_FREE      nothing of value SPOOL_STATE_OPEN META,
 * NVTX: being appended to; CUPTI: handed to CUPTI, which writes records from the start of the
 * payload into zeroed bytes. After a kill the reader walks until a kind of 0. SPOOL_STATE_COMPLETE
 * CUPTI: given back with `published` valid bytes SPOOL_STATE_SCANNED   CUPTI: walked by the
 * recorder: kernel and device names are string ids (SPOOL_NAME_TAG), records of the metadata kinds
 * (spool_cupti_is_metadata) are also in META, so the reader leaves them out A segment that is used
 * again (--ring, a buffer copied elsewhere) goes to FREE before its bytes change. `seq` counts the
 * segments of a spool in the order in which they were taken into use.
 *
 * The reader copies what it needs by pread, checks every length against what it has, and never
 * trusts a pointer.
 */
#ifndef CUTLINE_CAPTURE_SPOOL_SPOOL_H
#define CUTLINE_CAPTURE_SPOOL_SPOOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_MAGIC UINT64_C(0x314c4f4f50534c43) /* "CLSPOOL1" */
#define SPOOL_SEGMENT_MAGIC UINT32_C(0x47455343) /* "CSEG" */
#define SPOOL_VERSION 2
#define SPOOL_PAGE 4096
#define SPOOL_HEADER_BYTES 8192
#define SPOOL_SEGMENT_HEAD 64
#define SPOOL_SEGMENT_MAX (UINT64_C(1) << 30)
#define SPOOL_CUPTI_KINDS 64
#define SPOOL_LOSS_SLOTS 127
#define SPOOL_SUFFIX ".spool"

/* A name field of a scanned CUPTI record holds SPOOL_NAME_TAG | string id (0: the name could not be
 * read). Without the tag it is an address of the dead process: unresolved. */
#define SPOOL_NAME_TAG (UINT64_C(1) << 63)

/* What spool_header.sealed says. */
enum spool_seal {
    SPOOL_SEAL_NONE, /* killed, _exit, exec, crash, or still running */
    SPOOL_SEAL_EXIT /* the at-exit handler ran to its end */
};

/* The clock of NVTX times. */
enum spool_clock {
    SPOOL_CLOCK_MONO,
    SPOOL_CLOCK_TSC
};

/* Page 0. All but `sealed` and `file_bytes` is written once, before `magic`. */
struct spool_header {
    uint64_t magic; /* SPOOL_MAGIC, stored last */
    uint32_t version; /* SPOOL_VERSION */
    uint32_t clock; /* enum spool_clock */
    uint32_t pid; /* as the process sees it */
    uint32_t ppid;
    uint32_t forked_from; /* pid of the recorded process this one was forked from without exec; 0 if
                             none */
    uint32_t reserved0;
    uint64_t
        start_ticks; /* start of the process in clock ticks since boot (/proc/PID/stat field 22) */
    int64_t created_real_ns; /* when this spool was made */
    int64_t created_mono_ns;
    uint64_t created_tsc;
    _Atomic uint64_t file_bytes; /* end of the last segment; may be more than the file has */
    _Atomic uint32_t sealed; /* enum spool_seal */
    uint32_t reserved1;
    int64_t sealed_real_ns;
    char host[64]; /* zero-terminated, as are those below */
    char comm[32]; /* kernel's name of the process */
    char argv0[1024]; /* first word of the command line; the rest is in META, without secrets */
    char exe[1024]; /* path of the executable */
    uint16_t cupti_sizes
        [SPOOL_CUPTI_KINDS]; /* of records by kind, as in META; written once CUPTI is found */
};

/* Why something is not in the spool, or not as it was. */
enum spool_loss {
    SPOOL_LOSS_NONE,
    SPOOL_LOSS_CUPTI_DROPPED, /* CUPTI says that it dropped records
                                  (cuptiActivityGetNumDroppedRecords) */
    SPOOL_LOSS_BUFFER_BUDGET, /* written to a scratch buffer: buffers_max_bytes was reached */
    SPOOL_LOSS_MAX_SIZE, /* max_size_bytes was reached */
    SPOOL_LOSS_RING, /* overwritten by newer data (--ring) */
    SPOOL_LOSS_NO_SPACE, /* the file system is full */
    SPOOL_LOSS_TRUNCATED_TAIL, /* count: bytes at the end of CUPTI buffers that are no whole record
                                */
    SPOOL_LOSS_UNKNOWN_KIND, /* count: bytes of CUPTI buffers behind a kind whose size is not known
                              */
    SPOOL_LOSS_FOREIGN_BUFFER, /* CUPTI gave back a buffer that was never ours */
    SPOOL_LOSS_AFTER_FORK, /* CUPTI delivered in a forked child */
    SPOOL_LOSS_NAME_UNREADABLE, /* a kernel's name was no longer readable memory */
    SPOOL_LOSS_NVTX_NO_BUFFER, /* NVTX events while no segment was to be had */
    SPOOL_LOSS_NVTX_TEXT_CUT, /* NVTX texts cut at SPOOL_TEXT_MAX */
    SPOOL_LOSS_NVTX_PAYLOAD, /* extended payloads beyond SPOOL_PAYLOAD_MAX or with a bad pointer */
    SPOOL_LOSS_NVTX_DOMAINS, /* events of domains beyond 65,535: stored in the default domain */
    SPOOL_LOSS_NVTX_EXTENSION, /* calls of NVTX extension functions that are not recorded (scopes,
                                  batches, deferred) */
    SPOOL_LOSS_NVTX_REENTRANT, /* NVTX events from a signal handler that interrupted the recorder */
    SPOOL_LOSS_META_FULL, /* strings, names and the like while no segment was to be had */
    SPOOL_LOSS_EXIT_TIMEOUT, /* the flush at exit did not come back in time */
    SPOOL_LOSS_OUTSIDE_RANGE, /* no loss: CUPTI records outside the capture range, left out as asked
                               */
    SPOOL_LOSS_API_FILTERED, /* no loss: API records that the filter left out */
    /* the spool could not grow; which of them is told by spool/place.h */
    SPOOL_LOSS_QUOTA, /* a quota of the file system */
    SPOOL_LOSS_FILE_LIMIT, /* RLIMIT_FSIZE */
    SPOOL_LOSS_NO_DESCRIPTOR, /* RLIMIT_NOFILE, or the system's own limit */
    SPOOL_LOSS_NO_MEMORY, /* no address space, or no memory that may be locked */
    SPOOL_LOSS_USER, /* the process changed its user */
    SPOOL_LOSS_NO_ACCESS, /* the folder is forbidden to it otherwise */
    SPOOL_LOSS_CHROOT, /* it changed its root */
    SPOOL_LOSS_MOUNTS, /* it is in other mounts than at its start */
    SPOOL_LOSS_REMOVED, /* the folder or the spool is no longer there */
    SPOOL_LOSS_READ_ONLY, /* the file system was mounted read-only */
    SPOOL_LOSS_SECCOMP, /* a filter forbids to open files, or may end the process for it */
    SPOOL_LOSS_IO, /* any other error */
    SPOOL_LOSS_RIVAL, /* launched while another profiler of the program had CUPTI's buffers */
    SPOOL_LOSS_COUNT
};

/* Short name of REASON for the loss table, such as "buffer budget"; "unknown" for a number beyond.
 */
const char *spool_loss_name(uint32_t reason);

/* What was lost, where it is no record of CUPTI. */
#define SPOOL_LOSS_OF_NVTX 0xffffU
#define SPOOL_LOSS_OF_NAMES 0xfffeU /* texts, names and the like */

/* One counter; `key` is reason << 16 | CUPTI kind (0 where the kind is not known) or one of the two
 * above. */
struct spool_loss_slot {
    _Atomic uint32_t key;
    uint32_t reserved;
    _Atomic uint64_t count;
    _Atomic int64_t first_mono_ns;
    _Atomic int64_t last_mono_ns;
};

/* Page 1. */
struct spool_losses {
    uint64_t reserved[4];
    struct spool_loss_slot slots[SPOOL_LOSS_SLOTS];
};

/* Counts a loss in a page that may be shared by several processes. No lock; any thread. */
void spool_losses_add(struct spool_losses *losses, enum spool_loss reason, uint32_t kind,
                      uint64_t count);

enum spool_segment_kind {
    SPOOL_SEGMENT_NONE,
    SPOOL_SEGMENT_META,
    SPOOL_SEGMENT_NVTX,
    SPOOL_SEGMENT_CUPTI
};
enum spool_segment_state {
    SPOOL_STATE_FREE,
    SPOOL_STATE_OPEN,
    SPOOL_STATE_COMPLETE,
    SPOOL_STATE_SCANNED
};

/* Head of a segment; the payload follows. */
struct spool_segment {
    uint32_t magic; /* SPOOL_SEGMENT_MAGIC, stored last when the segment is made */
    uint32_t kind; /* enum spool_segment_kind */
    uint64_t bytes; /* whole segment with this head; multiple of SPOOL_PAGE */
    _Atomic uint64_t seq;
    _Atomic uint64_t published; /* bytes of payload that are whole records */
    _Atomic uint64_t copied_seq; /* CUPTI: the last segment that was copied into this one; to be
                                    ignored if still there */
    _Atomic uint32_t state; /* enum spool_segment_state */
    _Atomic uint32_t copied_end; /* CUPTI: the copy is whole if this much is published */
    int64_t taken_mono_ns; /* when it was taken into use */
    uint64_t offset; /* of this head in the file */
};

/* META record: head, then fields as given, then text without a terminator; padded to 8 bytes. */
struct spool_meta {
    uint32_t bytes; /* whole record with this head and the padding */
    uint16_t kind; /* enum spool_meta_kind */
    uint16_t code; /* meaning by kind */
    uint32_t text_bytes; /* length of the text behind the values */
    uint32_t domain;
    uint64_t value[4];
};

enum spool_meta_kind {
    SPOOL_META_NONE,
    SPOOL_META_STRING, /* value[0] id (> 0), value[1] address that the text was read from or 0; text
                        */
    SPOOL_META_DOMAIN, /* domain = id (> 0; 0 is the default domain); text = name */
    SPOOL_META_CATEGORY, /* domain, value[0] category; text = name */
    SPOOL_META_THREAD, /* value[0] system thread id; text = name given by nvtxNameOsThread */
    SPOOL_META_RESOURCE, /* code = enum spool_resource; value[0] handle or ordinal, value[1] CUPTI
                            stream or context id or UINT64_MAX where it could not be asked, value[2]
                            context id likewise; text = name */
    SPOOL_META_ANCHOR, /* value: CLOCK_REALTIME ns, CLOCK_MONOTONIC ns, TSC, cuptiGetTimestamp ns or
                          0 */
    SPOOL_META_STATUS, /* code = enum spool_status; value[0..2] and text by code; value[3]
                          CLOCK_MONOTONIC ns */
    SPOOL_META_CUPTI_SIZES, /* text = SPOOL_CUPTI_KINDS * uint16_t: record sizes by kind, 0 = kind
                                is not known */
    SPOOL_META_CUPTI_RECORD, /* value[0] kind; text = one raw CUPTI record of a metadata kind, names
                                as string ids */
    SPOOL_META_SCHEMA, /* extended payload schema: domain, value[0] schema id, value[1] static size;
                          text = description, see capture/README.md */
    SPOOL_META_OS_THREAD, /* value[0] system thread id; text = its name in the system. The last record
                             of a thread counts */
    SPOOL_META_COMMAND, /* text = the words of the command line, each ended by a zero byte, with
                             secrets hidden (spool/secret.h). The last record counts */
    SPOOL_META_JOB, /* code = enum spool_job; text = what the environment says of it */
    SPOOL_META_COUNT
};

/* The place of a process in its job. */
enum spool_job {
    SPOOL_JOB_RANK,
    SPOOL_JOB_WORLD_SIZE, /* processes of the job */
    SPOOL_JOB_LOCAL_RANK, /* on its machine */
    SPOOL_JOB_NODE, /* the number of the machine in the job */
    SPOOL_JOB_ID, /* as the job system has it */
    SPOOL_JOB_COUNT
};

enum spool_resource {
    SPOOL_RESOURCE_CU_DEVICE,
    SPOOL_RESOURCE_CU_CONTEXT,
    SPOOL_RESOURCE_CU_STREAM,
    SPOOL_RESOURCE_CU_EVENT,
    SPOOL_RESOURCE_CUDA_DEVICE,
    SPOOL_RESOURCE_CUDA_STREAM,
    SPOOL_RESOURCE_CUDA_EVENT,
    SPOOL_RESOURCE_GENERIC /* nvtxDomainResourceCreate: value[0] identifier, value[1] identifier
                              type */
};

/* How another profiler showed. */
enum spool_rival {
    SPOOL_RIVAL_NONE,
    SPOOL_RIVAL_FOREIGN_BUFFER, /* CUPTI gave us a buffer of its */
    SPOOL_RIVAL_REPLACED, /* it registered its callbacks in place of ours */
    SPOOL_RIVAL_KEPT /* our buffers did not come back at the end */
};

/* What happened in the process. `value` as said; text where said. */
enum spool_status {
    SPOOL_STATUS_NONE,
    SPOOL_STATUS_ATTACHED_CUDA, /* the CUDA driver loaded the library; value[0] driver version or 0
                                 */
    SPOOL_STATUS_ATTACHED_NVTX, /* an NVTX client attached; value[0] how many so far, value[1] NVTX
                                   version */
    SPOOL_STATUS_CUPTI_FOUND, /* value[0] cuptiGetVersion; text = path */
    SPOOL_STATUS_CUPTI_NOT_FOUND, /* text = what was searched */
    SPOOL_STATUS_CUPTI_FAILED, /* value[0] result code, value[1] kind or 0; text = function */
    SPOOL_STATUS_CUPTI_NO_DRIVER, /* value[0] result code (999, 15): no usable CUDA driver; text =
                                     function */
    SPOOL_STATUS_CUPTI_BUSY, /* another CUPTI client holds the subscriber slot; text = its name if
                                  known */
    SPOOL_STATUS_CUPTI_ACTIVE, /* subscribed, buffers registered; value[0] buffer bytes, value[1]
                                  kinds enabled, value[2] bits of the kinds enabled */
    SPOOL_STATUS_CUPTI_INTERFERED, /* another profiler is in the program; value[0] enum spool_rival,
                                      value[1] 1: what is launched from then on is counted; text =
                                      its library, where it is known */
    SPOOL_STATUS_CONTEXT_CREATED, /* value[0] context id, value[1] device id */
    SPOOL_STATUS_PROFILER_START, /* cuProfilerStart was called; value[0] 1 if it opened the capture
                                    range */
    SPOOL_STATUS_PROFILER_STOP, /* likewise closed */
    SPOOL_STATUS_RANGE_OPENED, /* the capture range opened at value[3]; text = range text for NVTX */
    SPOOL_STATUS_RANGE_CLOSED, /* it closed; value[0] 1 if the process goes on recording */
    SPOOL_STATUS_RANGE_EARLY, /* one was there before the delay had passed, and was left alone */
    SPOOL_STATUS_RANGE_SEEN, /* an NVTX range that was not the wanted one; domain; text. The first
                                16 texts */
    SPOOL_STATUS_THREAD_FAILED, /* the flush thread could not be started; value[0] errno */
    SPOOL_STATUS_FLUSH_FAILED, /* cuptiActivityFlushAll; value[0] result code, value[1] 1 at exit */
    SPOOL_STATUS_EXIT, /* the at-exit handler; value[0] ns it took, value[1] 1 if the flush came
                            back */
    SPOOL_STATUS_FORKED, /* this is a forked child: CUDA is not recorded; value[0] parent pid */
    SPOOL_STATUS_COST, /* own cost at exit: value[0] ns of the flush thread's CPU, value[1] buffers,
                          value[2] records walked */
    SPOOL_STATUS_STATE, /* CUPTI's state callback; value[0] state id, value[1] result; text =
                           message */
    SPOOL_STATUS_GRAPH, /* a CUDA graph was made; value[0] graph id, value[1] the graph that it is a
                           clone of or 0, value[2] thread id */
    SPOOL_STATUS_GRAPH_EXEC, /* an executable graph; value[0] graph id, value[1] its own id or 0
                                where CUPTI cannot tell, value[2] thread id */
    SPOOL_STATUS_GRAPH_NODE, /* a node; value[0] node id, value[1] the node that it is a clone of or
                                0, value[2] thread id */
    SPOOL_STATUS_CUPTI_PASSED_OVER, /* a CUPTI that is newer than the driver; value[0] its version;
                                       text = path */
    SPOOL_STATUS_COUNT
};

/* NVTX record, in the order in which one thread made them: head, then the optional fields that
 * `flags` names, in the order of the bits, then padding to 8 bytes. */
struct spool_nvtx {
    uint8_t type; /* enum spool_nvtx_type */
    uint8_t flags; /* SPOOL_NVTX_* */
    uint16_t domain;
    uint16_t bytes; /* whole record with head and padding */
    uint16_t
        level; /* PUSH, POP: ranges of the thread and domain that are open with it; 0: not known,
                       SPOOL_LEVEL_NONE: a pop of nothing */
    uint64_t time; /* in the clock of the header; for THREAD: the system thread id */
};

#define SPOOL_LEVEL_NONE UINT16_MAX

enum spool_nvtx_type {
    SPOOL_NVTX_NONE,
    SPOOL_NVTX_THREAD, /* what follows in this segment is of the thread `time` */
    SPOOL_NVTX_PUSH,
    SPOOL_NVTX_POP,
    SPOOL_NVTX_START, /* has a RANGE field; may be ended by any thread */
    SPOOL_NVTX_END, /* has a RANGE field */
    SPOOL_NVTX_MARK,
    SPOOL_NVTX_TYPES
};

#define SPOOL_NVTX_RANGE 0x01 /* uint64_t range id, unique in the process */
#define SPOOL_NVTX_ATTR 0x02 /* uint32_t colour type (0 none, 1 ARGB), uint32_t colour */
#define SPOOL_NVTX_CATEG 0x04 /* uint32_t category, uint32_t 0 */
#define SPOOL_NVTX_PAYLOAD \
    0x08 /* uint32_t payload type (NVTX numbers, 1 uint64 2 int64 3 double 4 uint32 5 int32 6      \
            float), uint32_t 0, uint64_t value (32-bit types in the low half) */
#define SPOOL_NVTX_BLOB \
    0x10 /* extended payload: uint64_t schema id, uint64_t size given by the program, uint32_t     \
            bytes kept, uint32_t 0, bytes padded to 8 */
#define SPOOL_NVTX_STRING \
    0x20 /* uint64_t id of a registered string; 0: its registration was lost, so its text is */
#define SPOOL_NVTX_TEXT 0x40 /* uint32_t length, then the bytes, no terminator */

/* uint32_t offset, uint32_t length: the text is the one at that offset of the same segment's
 * payload. The reader hands it out as SPOOL_NVTX_TEXT. */
#define SPOOL_NVTX_REPEAT 0x80

#define SPOOL_TEXT_MAX 8192
#define SPOOL_PAYLOAD_MAX 1024

/* What the reader hands out. */
enum spool_item_kind {
    SPOOL_ITEM_META, /* meta */
    SPOOL_ITEM_LOSS, /* loss */
    SPOOL_ITEM_NVTX, /* nvtx */
    SPOOL_ITEM_CUPTI /* cupti */
};

struct spool_item {
    enum spool_item_kind kind;
    union {
        struct {
            struct spool_meta head;
            const void *text; /* head.text_bytes bytes, not terminated, may hold anything; until the
                                 next call */
        } meta;
        struct {
            uint32_t reason; /* enum spool_loss */
            uint32_t kind; /* of CUPTI, or SPOOL_LOSS_OF_... */
            uint64_t count;
            int64_t first_mono_ns;
            int64_t last_mono_ns;
        } loss;
        struct {
            struct spool_nvtx head;
            uint32_t tid;
            uint32_t color_type;
            uint32_t color;
            uint32_t category;
            uint32_t payload_type;
            uint32_t blob_bytes;
            uint32_t text_bytes;
            uint64_t payload;
            uint64_t range;
            uint64_t string;
            uint64_t schema;
            const void *blob; /* until the next call, as is text */
            const void *text;
        } nvtx;
        struct {
            uint32_t kind; /* CUpti_ActivityKind */
            uint32_t bytes; /* size of this library's record */
            bool scanned; /* names are string ids */
            const void *record; /* 8-byte aligned, bytes long; until the next call */
        } cupti;
    } u;
};

/* What the reader itself found wrong with the file; all 0 for a whole one. */
struct spool_damage {
    uint64_t segments_bad; /* heads that make no sense: the rest of that segment is skipped */
    uint64_t records_bad; /* records that do not fit their segment: the rest of it is skipped */
    uint64_t cupti_tail_bytes; /* bytes of undelivered CUPTI buffers behind the last whole record */
    uint64_t undelivered; /* CUPTI records read from buffers that CUPTI had not given back */
};

struct spool_reader;

/* Opens PATH and reads heads, sizes and the order of segments. NULL on failure: *WHY (if not NULL)
 * then is a constant text, errno is set for system errors and 0 for a file that is no spool. */
struct spool_reader *spool_reader_open(const char *path, const char **why);

/* Header of the file; texts are terminated. Valid until close. */
const struct spool_header *spool_reader_header(const struct spool_reader *reader);

/* Size of CUPTI records of KIND in this process; 0 if not known. */
uint32_t spool_reader_record_bytes(const struct spool_reader *reader, uint32_t kind);

/* Next item: all losses and META first, then NVTX in segment order, then CUPTI. Returns 1 with
 * *ITEM filled, 0 at the end, -1 on a read error (errno). NVTX records of one thread come in the
 * order of their making, except under --ring. CUPTI records come in no order: CUPTI gives none
 * between buffers. */
int spool_reader_next(struct spool_reader *reader, struct spool_item *item);

/* What was found wrong so far. */
const struct spool_damage *spool_reader_damage(const struct spool_reader *reader);

/* Bytes read of bytes to read, for a progress bar. */
void spool_reader_progress(const struct spool_reader *reader, uint64_t *done_bytes,
                           uint64_t *all_bytes);

/* Closes; NULL is allowed. */
void spool_reader_close(struct spool_reader *reader);

/* True for kinds whose records describe rather than measure: DEVICE, CONTEXT, NAME,
 * DEVICE_ATTRIBUTE, STREAM. */
static inline bool spool_cupti_is_metadata(uint32_t kind)
{
    return kind == 8 || kind == 9 || kind == 11 || kind == 28 || kind == 37;
}

#endif
