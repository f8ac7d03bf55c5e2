"""Communication: exposed, hidden, and who comes last."""
from capture import *

REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def two_ranks(c, compute, stream=7, steps=20):
    """Two processes with a GPU each; rank r computes compute(r, step) ns, then both reduce for 1 ms."""
    for rank in range(2):
        at = MS
        for step in range(steps):
            arrive = [compute(r, step) for r in range(2)]
            end = max(arrive) + MS
            c.launch("gemm_kernel", at - 900 * US, at, at + arrive[rank], pid=100 + rank, device=rank, grid=(86400, 1, 1))
            c.launch(REDUCE, at - 890 * US, at + arrive[rank] + US, at + end, pid=100 + rank, device=rank,
                     grid=(24, 1, 1), stream=stream)
            at += end + US


def straggler(c):
    two_ranks(c, lambda rank, step: 30 * MS if rank == 1 else 10 * MS)


def noisy_straggler(c):
    two_ranks(c, lambda rank, step: (25 if rank == 0 else 10) * MS + step * 7919 * US % (3 * MS))


def taking_turns(c):
    two_ranks(c, lambda rank, step: 30 * MS if step % 2 == rank else 10 * MS)


def hidden(c):
    for i in range(20):
        c.launch("gemm_kernel", i * 10 * MS, i * 10 * MS + 20 * US, (i + 1) * 10 * MS, grid=(86400, 1, 1))
        c.launch(REDUCE, i * 10 * MS + 6 * US, i * 10 * MS + MS, i * 10 * MS + 4 * MS, stream=20)


def unpaired(c):
    for rank in range(2):
        for i in range(20 - rank * 3):
            at = MS + rank * S + i * 10 * MS
            c.launch("gemm_kernel", at, at + 20 * US, at + 5 * MS, pid=100 + rank, device=rank)
            c.launch(REDUCE, at + 6 * US, at + 5 * MS, at + 9 * MS, pid=100 + rank, device=rank)


for each in (straggler, noisy_straggler, taking_turns, unpaired):
    each.options = {"gpus": ((0, "GPU zero"), (1, "GPU one"))}

CASES = [
    ("a straggler", straggler, "analyze",
     ["1. GPU 0: exposed communication, 67.7 % of its span 420 ms", "20 AllReduce",
      "it waited 400 ms for GPU 1, which came last in 20 of 20", "GPU 1 is late: it computes for 600 ms, GPU 0 for 200 ms"],
     ["No finding"]),
    ("the other one, with noise", noisy_straggler, "analyze",
     ["1. GPU 1: exposed communication", "for GPU 0, which came last in 20 of 20", "GPU 0 is late"], []),
    ("taking turns", taking_turns, "analyze",
     ["which came last in 10 of 20", "begins its collectives later though it does not compute for longer"],
     ["is late: it computes"]),
    ("hidden behind compute", hidden, "analyze", [], ["exposed communication"]),
    ("collectives that do not pair", unpaired, "analyze",
     ["exposed communication", "the collectives of the devices do not pair"], ["it waited"]),
]
