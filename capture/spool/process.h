/* Which process a process id means: ids are used again, so the time of its start goes with it. */
#ifndef CUTLINE_CAPTURE_PROCESS_H
#define CUTLINE_CAPTURE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* When the calling process started, in clock ticks since boot (field 22 of /proc/PID/stat); 0 where
 * that cannot be read. */
uint64_t process_start_ticks(void);

/* Whether the process of that id and start still runs. A zombie does not. */
bool process_runs(uint32_t pid, uint64_t start_ticks);

#endif
