/* Capture ranges: the process's side, and what the launcher sees of it. */
#include "capture/spool/ranges.h"

#include <unistd.h>

#include "capture/spool/process.h"

void session_ranges_begin(struct session_ranges *ranges, struct session_control *control)
{
    ranges->control = control;
    atomic_store(&ranges->collecting, control->range == SESSION_RANGE_NONE);
    atomic_store(&ranges->used_up, false);
    ranges->done = 0;
    ranges->entry = NULL;
}

/* The entry of this process: that of an earlier image of it (exec), or a free one; NULL if there is
 * none. */
static struct session_process *take_entry(struct session_control *control, uint64_t start_ticks)
{
    uint32_t pid = (uint32_t)getpid();
    for (uint32_t i = 0; i < SESSION_PROCESSES; i++) {
        struct session_process *entry = &control->processes[i];
        uint32_t owner = 0;
        if (atomic_compare_exchange_strong(&entry->pid, &owner, pid)) {
            atomic_store(&entry->start_ticks, start_ticks);
            return entry;
        }
        if (owner == pid && atomic_load(&entry->start_ticks) == start_ticks) {
            atomic_store(&entry->done, 0);
            atomic_store(&entry->used_up, 0);
            return entry;
        }
    }
    return NULL;
}

bool session_ranges_open(struct session_ranges *ranges, uint64_t start_ticks)
{
    struct session_control *control = ranges->control;
    if (atomic_load(&ranges->used_up) || !session_control_collecting(control)) {
        return false;
    }
    if (ranges->entry == NULL) {
        ranges->entry = take_entry(control, start_ticks);
    }
    if (ranges->entry != NULL) {
        atomic_store(&ranges->entry->open, 1);
    }
    (void)atomic_fetch_add(&control->ranges_opened, 1);
    atomic_store(&ranges->collecting, true);
    return true;
}

/* True if no further range may open after DONE of them. */
static bool enough(const struct session_control *control, uint32_t done)
{
    if (control->range_end == SESSION_RANGE_END_STOP) {
        return done >= 1;
    }
    return control->range_end == SESSION_RANGE_END_REPEAT && control->range_repeat > 0 &&
           done >= control->range_repeat;
}

bool session_ranges_close(struct session_ranges *ranges)
{
    struct session_control *control = ranges->control;
    bool goes_on = control->range_end == SESSION_RANGE_END_NONE;
    bool used_up = enough(control, ++ranges->done);
    atomic_store(&ranges->collecting, goes_on);
    atomic_store(&ranges->used_up, used_up);
    (void)atomic_fetch_add(&control->ranges_done, 1);
    if (ranges->entry != NULL) {
        atomic_store(&ranges->entry->done, ranges->done);
        atomic_store(&ranges->entry->used_up, used_up ? 1 : 0);
        atomic_store(&ranges->entry->open, 0);
    }
    return goes_on;
}

bool session_ranges_any_used_up(const struct session_control *control)
{
    bool found = false;
    for (uint32_t i = 0; i < SESSION_PROCESSES && !found; i++) {
        found = atomic_load(&control->processes[i].used_up) != 0;
    }
    return found;
}

bool session_ranges_over(const struct session_control *control)
{
    if (!session_ranges_any_used_up(control)) {
        return false;
    }
    for (uint32_t i = 0; i < SESSION_PROCESSES; i++) {
        const struct session_process *entry = &control->processes[i];
        uint32_t pid = atomic_load(&entry->pid);
        if (pid != 0 && atomic_load(&entry->used_up) == 0 &&
            process_runs(pid, atomic_load(&entry->start_ticks))) {
            return false;
        }
    }
    return true;
}

uint64_t session_ranges_moves(const struct session_control *control)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < SESSION_PROCESSES; i++) {
        const struct session_process *entry = &control->processes[i];
        if (atomic_load(&entry->pid) != 0 && atomic_load(&entry->used_up) == 0) {
            sum += 2 * (uint64_t)atomic_load(&entry->done) + atomic_load(&entry->open) + i;
        }
    }
    return sum;
}
