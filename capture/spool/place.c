/* Why the session folder cannot be written to any more: the process is looked at again. */
#define _GNU_SOURCE /* the numbers of errno and prctl; NOLINT */
#include "capture/spool/place.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t mount_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/mnt", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

void spool_place_learn(struct spool_place *place)
{
    struct stat root;
    memset(place, 0, sizeof(*place));
    place->user = (uint32_t)geteuid();
    place->seccomp = prctl(PR_GET_SECCOMP);
    if (stat("/", &root) == 0) {
        place->root_device = (uint64_t)root.st_dev;
        place->root_inode = (uint64_t)root.st_ino;
    }
    place->mounts = mount_namespace();
}

bool spool_place_open_allowed(const struct spool_place *place)
{
    return prctl(PR_GET_SECCOMP) == place->seccomp;
}

/* The folder is not where it was: other mounts, another root, or nothing of that name. */
static enum spool_loss out_of_reach(const struct spool_place *place)
{
    struct stat root;
    uint64_t mounts = mount_namespace();
    if (stat("/", &root) == 0 && ((uint64_t)root.st_dev != place->root_device ||
                                  (uint64_t)root.st_ino != place->root_inode)) {
        return SPOOL_LOSS_CHROOT;
    }
    /* Behind a chroot there may be no /proc to ask, so the root goes first. */
    return mounts != 0 && mounts != place->mounts ? SPOOL_LOSS_MOUNTS : SPOOL_LOSS_REMOVED;
}

enum spool_loss spool_place_cause(const struct spool_place *place, int error)
{
    static const struct {
        int error;
        enum spool_loss loss;
    } causes[] = {
        {ENOSPC, SPOOL_LOSS_NO_SPACE},      {EDQUOT, SPOOL_LOSS_QUOTA},
        {EFBIG, SPOOL_LOSS_FILE_LIMIT},     {EMFILE, SPOOL_LOSS_NO_DESCRIPTOR},
        {ENFILE, SPOOL_LOSS_NO_DESCRIPTOR}, {ENOMEM, SPOOL_LOSS_NO_MEMORY},
        {EAGAIN, SPOOL_LOSS_NO_MEMORY}, /* mmap beyond the limit of locked memory */
        {EPERM, SPOOL_LOSS_SECCOMP},        {ENOSYS, SPOOL_LOSS_SECCOMP},
        {EROFS, SPOOL_LOSS_READ_ONLY},
    };
    if (error == EACCES) {
        return (uint32_t)geteuid() != place->user ? SPOOL_LOSS_USER : SPOOL_LOSS_NO_ACCESS;
    }
    if (error == ENOENT || error == ENOTDIR || error == ESTALE) {
        return out_of_reach(place);
    }
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        if (causes[i].error == error) {
            return causes[i].loss;
        }
    }
    return SPOOL_LOSS_IO;
}
