/*
 * The ring of a session (--ring): which segments of all its spools may be overwritten. One table in
 * a file of the session folder, mapped shared by every recorded process; the process that needs room
 * takes the oldest segment of any of them. Used inside the recorded processes: no malloc, no lock;
 * any of them may be killed at any moment, which costs the entry that it was changing at most.
 *
 *   spool_ring_join                    a spool is there
 *   spool_ring_add .. spool_ring_done  a segment is written .. may be overwritten
 *   spool_ring_oldest                  takes the entry of the oldest that may be
 *   spool_ring_erase, spool_ring_remove   its events are counted as lost and its blocks given back;
 *                                      the entry is free
 *
 * An entry changes hands by compare-and-swap of its state alone; who moved it out of FREE, OPEN or
 * DONE has it. A segment that is still being written is left alone while its process runs.
 */
#ifndef CUTLINE_CAPTURE_SPOOL_RING_H
#define CUTLINE_CAPTURE_SPOOL_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/spool/spool.h"

#define SPOOL_RING_FILE "ring"
#define SPOOL_RING_MAGIC UINT64_C(0x31474e4952434c43)
#define SPOOL_RING_SPOOLS 4096
#define SPOOL_RING_ENTRIES 32768
#define SPOOL_RING_NONE UINT32_MAX
#define SPOOL_RING_NAME 112

enum spool_ring_state {
    SPOOL_RING_FREE,
    SPOOL_RING_CHANGING,
    SPOOL_RING_OPEN, /* a segment: being written; a spool: its process runs */
    SPOOL_RING_DONE /* a segment: complete; a spool: its process is gone */
};

/* One spool. */
struct spool_ring_spool {
    _Atomic uint32_t state;
    uint32_t pid;
    uint64_t pid_namespace;
    uint64_t start_ticks;
    _Atomic int64_t looked_mono_ns; /* when it was last looked whether the process runs */
    _Atomic uint32_t entries;
    char name[SPOOL_RING_NAME]; /* in the session folder */
};

/* One segment. */
struct spool_ring_entry {
    _Atomic uint32_t state;
    uint32_t spool;
    uint64_t offset;
    uint64_t bytes;
    int64_t mono_ns; /* when it was taken into use, then when it was complete */
};

struct spool_ring {
    uint64_t magic;
    _Atomic uint32_t spools_used; /* none is in use from here on */
    _Atomic uint32_t entries_used;
    struct spool_ring_spool spools[SPOOL_RING_SPOOLS];
    struct spool_ring_entry entries[SPOOL_RING_ENTRIES];
};

/* Makes DIR/ring, with its blocks. Returns 0, or -1 with errno. */
int spool_ring_create(const char *dir);

/* Maps DIR/ring for good. NULL if it is not there. */
struct spool_ring *spool_ring_open(const char *dir);

/* Enters a spool by its file name. Its number, or SPOOL_RING_NONE. */
uint32_t spool_ring_join(struct spool_ring *ring, const char *name,
                         const struct spool_header *header);

/* Enters a segment that is written from now on. Its number, or SPOOL_RING_NONE. */
uint32_t spool_ring_add(struct spool_ring *ring, uint32_t spool, uint64_t offset, uint64_t bytes);

/* The segment at OFFSET is complete. EMPTY: it holds nothing and is the first to be used. */
void spool_ring_done(struct spool_ring *ring, uint32_t spool, uint64_t offset, bool empty);

/* Takes the oldest entry that may be overwritten; of the spool ONLY alone unless that is
 * SPOOL_RING_NONE. SPOOL_RING_NONE: there is none. */
uint32_t spool_ring_oldest(struct spool_ring *ring, uint32_t only);

/* Counts what the segment of a taken entry holds as overwritten, in its own spool, and gives its
 * blocks back to the file system. DIR is the session folder. Returns 0, or -1. */
int spool_ring_erase(const struct spool_ring *ring, uint32_t entry, const char *dir);

/* Gives a taken entry back as it was: it may be overwritten. */
void spool_ring_put_back(struct spool_ring *ring, uint32_t entry);

/* Ends a taken entry. */
void spool_ring_remove(struct spool_ring *ring, uint32_t entry);

/* Counts the events of SEGMENT as overwritten in LOSSES; SIZES of CUPTI's records by kind. */
void spool_ring_count(struct spool_segment *segment, const uint16_t *sizes,
                      struct spool_losses *losses);

#endif
