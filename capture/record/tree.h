/* The processes of a recording: those below the launcher, those that have the recorder's library in
 * their environment, and those that have a spool, wherever their parents are.
 *
 * The launcher does not make itself the new parent of processes whose own is gone
 * (PR_SET_CHILD_SUBREAPER): a program that asks getppid() whether its parent is alive would never
 * learn that it is not. So they are looked for in /proc, and their ends come through descriptors
 * (pidfd_open). What is not found: a process that has neither the environment nor a spool, once its
 * parent is gone. It cannot be recorded either. */
#ifndef CUTLINE_CAPTURE_RECORD_TREE_H
#define CUTLINE_CAPTURE_RECORD_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct record_member {
    pid_t pid;
    int fd; /* readable when it ends; -1: the system has none */
};

/* Zero it at first. */
struct record_tree {
    struct record_member *members;
    size_t count;
    size_t room;
    bool blind; /* some have no descriptor: look again now and then */
};

/* Looks for the processes of the session in the folder dir: those that are there now. Those that
 * were known keep their descriptors. O(processes of the machine). */
void record_tree_find(struct record_tree *tree, const char *dir);

/* Sends a signal to all that were found. */
void record_tree_signal(const struct record_tree *tree, int signal);

void record_tree_free(struct record_tree *tree);

#endif
