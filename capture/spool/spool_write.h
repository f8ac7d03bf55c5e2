/*
 * The writing side of the spool (capture/spool/spool.h), inside the recorded process.
 *
 * Rules that hold for every function here: it never fails the program, never aborts, never calls
 * malloc, keeps no file open (a program may close descriptors that it does not own; the spool is
 * opened by name each time it grows), and checks disk space and file size limits before a page is
 * mapped, so that no store can raise SIGBUS or SIGXFSZ.
 */
#ifndef CUTLINE_CAPTURE_SPOOL_SPOOL_WRITE_H
#define CUTLINE_CAPTURE_SPOOL_SPOOL_WRITE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/spool/place.h"
#include "capture/spool/ring.h"
#include "capture/spool/session.h"
#include "capture/spool/spool.h"

#define SPOOL_PATH_BYTES 1200
#define SPOOL_SPARES 64
#define SPOOL_EXTENTS 65536

/* A place in the file that may be used again. */
struct spool_extent {
    uint64_t offset;
    uint64_t bytes;
    uint32_t kind;
};

/* One spool being written. Zero it, then spool_writer_open. */
struct spool_writer {
    struct spool_header *header;
    struct spool_losses *losses;
    struct session_control *control; /* for the size of the session; not owned */
    const struct spool_place *place; /* where the process stood at its start; not owned */
    uint64_t max_size_bytes;
    bool ring;
    bool ring_punches; /* blocks of other spools can be given back */
    struct spool_ring *ring_map;
    uint32_t ring_spool; /* number in it, or SPOOL_RING_NONE */
    size_t dir_bytes; /* of the path: the session folder */
    pthread_mutex_t lock; /* growth, META, ring and spares */
    uint64_t device;
    uint64_t inode;
    uint64_t end; /* of the file */
    int64_t retry_mono_ns; /* no growth before this time, after a failure */
    enum spool_loss retry_why;
    _Atomic uint64_t seq;
    struct spool_segment *meta;
    uint64_t meta_bytes; /* size of the next META segment */
    uint64_t meta_all_bytes; /* of all META segments; a ring's events do not push them out */
    uint16_t sizes[SPOOL_CUPTI_KINDS];
    struct spool_segment
        *spares[SPOOL_SPARES]; /* NVTX segments with room left, of threads that ended */
    uint32_t spare_count;
    struct spool_extent *extents; /* SPOOL_EXTENTS released places; the last is used first */
    uint32_t extent_count;
    char path[SPOOL_PATH_BYTES];
};

/* Makes DIR/HOST.PID.START.N.spool. FORKED_FROM is 0 or the parent's pid. Returns 0, or -1 with
 * errno. */
int spool_writer_open(struct spool_writer *writer, const char *dir, struct session_control *control,
                      const struct spool_place *place, const struct session_config *config,
                      uint32_t forked_from);

/* Takes a segment of BYTES (a multiple of SPOOL_PAGE) into use: mapped, its pages present and
 * (CUPTI) zeroed, `published` 0, state OPEN. NULL with *WHY set to an enum spool_loss. Takes the
 * lock; 30 us to a few ms. */
struct spool_segment *spool_writer_take(struct spool_writer *writer, enum spool_segment_kind kind,
                                        uint64_t bytes, enum spool_loss *why);

/* Gives back a data segment that will not be written any more: it is unmapped; in a ring it may be
 * used again. */
void spool_writer_finish(struct spool_writer *writer, struct spool_segment *segment);

/* Gives back a data segment that holds nothing any more, its payload zeroed and its state FREE: the
 * next one of its kind and size takes its place in the file. */
void spool_writer_release(struct spool_writer *writer, struct spool_segment *segment);

/* Keeps an NVTX segment whose thread ended for the next thread; takes one (NULL if there is none).
 */
void spool_writer_put_spare(struct spool_writer *writer, struct spool_segment *segment);
struct spool_segment *spool_writer_get_spare(struct spool_writer *writer);

/* Appends one META record: HEAD's kind, code, domain and values, and TEXT_BYTES of TEXT. Losses are
 * counted. */
void spool_writer_meta(struct spool_writer *writer, const struct spool_meta *head, const void *text,
                       size_t text_bytes);

/* Short forms. */
void spool_writer_status(struct spool_writer *writer, enum spool_status status, uint64_t value0,
                         uint64_t value1, const char *text);
void spool_writer_anchor(struct spool_writer *writer, uint64_t cupti_ns);
void spool_writer_sizes(struct spool_writer *writer, const uint16_t *sizes);

/* Counts a loss of a CUPTI kind, or of SPOOL_LOSS_OF_NVTX or _NAMES. No lock; any thread. */
void spool_writer_loss(struct spool_writer *writer, enum spool_loss reason, uint32_t kind,
                       uint64_t count);

/* Marks the spool as ended well. */
void spool_writer_seal(struct spool_writer *writer);

/* Payload of a segment, and its size. */
static inline uint8_t *spool_payload(struct spool_segment *segment)
{
    return (uint8_t *)segment + SPOOL_SEGMENT_HEAD;
}

static inline uint64_t spool_room(const struct spool_segment *segment)
{
    return segment->bytes - SPOOL_SEGMENT_HEAD;
}

#endif
