"""Advice follows the facts: what is done already is not advised, and words of a framework are for those who use it."""
from capture import *

TORCH_KERNEL = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)"


def copies(src, call, copy_stream, named="./program", kernel="gemm", step=20 * MS):
    """A copy to the device, and a kernel after it, in each step."""
    def write(c):
        c.process(1000, named)
        for i in range(10):
            t = i * step
            copy = c.api(call, t + 3 * US, t + 8 * US)
            c.copy(t + 10 * US, t + step * 2 // 5, copy, HTOD, 200 << 20, src=src, stream=copy_stream)
            c.launch(kernel, t + 20 * US, t + step * 2 // 5 + 10 * US, t + step, stream=13)
    return write


def only_copies(c):
    for i in range(20):
        copy = c.api("cudaMemcpyAsync_v3020", i * 10 * MS, i * 10 * MS + 5 * US)
        c.copy(i * 10 * MS + 10 * US, i * 10 * MS + 9 * MS, copy, HTOD, 1 << 28, src=PINNED, stream=14)
        c.launch("sum", i * 10 * MS + 6 * US, i * 10 * MS + 9 * MS + US, i * 10 * MS + 9500 * US, stream=13)


def allocates(*calls):
    """Each step allocates and frees with these calls while the device is idle."""
    def write(c):
        c.process(1000, "./solver")
        for i in range(20):
            t = i * 5 * MS
            c.launch("step", t, t + 10 * US, t + MS)
            c.api("cudaStreamSynchronize_v3020", t + 11 * US, t + MS + 5 * US)
            at = t + MS + 10 * US
            for k in range(6):
                c.api(calls[k % len(calls)], at, at + 600 * US)
                at += 605 * US
    return write


def reads(named, kernel="step"):
    def write(c):
        c.process(1000, named)
        for i in range(20):
            t = i * 10 * MS
            c.launch(kernel, t, t + 10 * US, t + 2 * MS)
            c.osrt("read", t + 2 * MS, t + 9900 * US)
    return write


def waits(named, kernel="step", library=None, range_=None):
    """A blocking call, then host work, in each step."""
    def write(c):
        c.process(1000, named)
        if library is not None:
            c.text(library)
        for i in range(20):
            t = i * 10 * MS
            c.launch(kernel, t, t + 10 * US, t + 2 * MS)
            c.api("cudaStreamSynchronize_v3020", t + 11 * US, t + 2005 * US)
            if range_ is not None:
                c.push(range_, t, t + 2 * MS)
    return write


def pool_with_threshold(c):
    c.api("cudaMemPoolSetAttribute_v11020", 0, 2 * US)
    allocates("cudaMallocAsync_v11020", "cudaFreeAsync_v11020")(c)


def small_kernels(kernel):
    """One small kernel in 14 us, of a Python program."""
    def write(c):
        c.process(1000, "python3")
        for i in range(400):
            c.launch(kernel, i * 14 * US, i * 14 * US + 6 * US, i * 14 * US + 9 * US)
    return write


def first_launches(c):
    """Each launch is the first of its kernel, and takes 3 ms."""
    for i in range(12):
        t = i * 4 * MS
        c.launch(f"kernel_{i}", t, t + 3 * MS + 5 * US, t + 3900 * US, call_ns=3 * MS)


def slow_launches(c):
    """Launches of one kernel that take 30 us of 40."""
    for i in range(200):
        t = i * 40 * US
        c.launch("same", t, t + 31 * US, t + 39 * US, call_ns=30 * US)
        c.api("cudaEventSynchronize_v3020", t + 35 * US, t + 39500)


def waits_before_launch(call, call_ns):
    """A wait after each kernel, so that the next launching call makes most of the gap."""
    def write(c):
        t = 0
        for _ in range(300):
            end = t + call_ns + 2 * US + 90 * US
            c.launch("step", t, t + call_ns + 2 * US, end, call_ns=call_ns, grid=(86400, 1, 1))
            c.api(call, t + call_ns + US, end + US)
            t = end + 1500
    return write


PYTHON_WORDS = ["num_workers", "pin_memory", ".item()", "torch", "PyTorch", "non_blocking", "jit", "tf.", "Python"]

CASES = [
    ("pinned, asynchronous, a stream of its own", copies(PINNED, "cudaMemcpyAsync_v3020", 14), "analyze",
     ["100 % pinned memory, 100 % in asynchronous calls, 0 % on streams of kernels", "two buffers"],
     ["pinned memory, cudaMemcpyAsync", "from pinned memory", "cudaMallocHost", *PYTHON_WORDS]),
    ("pinned and asynchronous, on the stream of the kernels", copies(PINNED, "cudaMemcpyAsync_v3020", 13, step=7 * MS),
     "analyze", ["100 % on streams of kernels", "stream of their own"], ["two buffers", "from pinned memory"]),
    ("pinned, but blocking", copies(PINNED, "cudaMemcpy_v3020", 14), "analyze",
     ["The memory is pinned, but the calls wait"], ["from pinned memory", "two buffers"]),
    ("pageable", copies(PAGEABLE, "cudaMemcpyAsync_v3020", 14), "analyze",
     ["100 % pageable memory", "from pinned memory"], ["two buffers", *PYTHON_WORDS]),
    ("pageable, PyTorch", copies(PAGEABLE, "cudaMemcpyAsync_v3020", 14, "/usr/bin/python3.11", TORCH_KERNEL), "analyze",
     ["PyTorch (kernel names)", "pin_memory=True", "non_blocking=True"], ["JAX", "TensorFlow"]),
    ("pageable, libtorch without Python", copies(PAGEABLE, "cudaMemcpyAsync_v3020", 14, "./serve", TORCH_KERNEL),
     "analyze", ["from pinned memory"], PYTHON_WORDS),
    ("hardly anything to hide behind", only_copies, "analyze",
     ["Other work takes 9.98 ms: copying beside it can hide no more than that. Copy less"], ["from pinned memory"]),
    ("a pool", allocates("cudaMallocAsync_v11020", "cudaFreeAsync_v11020"), "analyze",
     ["allocation or free", "cudaMallocAsync (34.2 ms)", "release threshold"], ["from a pool", "PyTorch"]),
    ("a pool whose attributes are set", pool_with_threshold, "analyze", ["whose attributes are set"],
     ["gives its memory back"]),
    ("small launches of PyTorch", small_kernels(TORCH_KERNEL), "analyze", ["too many small launches", "torch.compile"],
     ["is used already"]),
    ("small launches of compiled PyTorch", small_kernels("triton_poi_fused_add_mul_3"), "analyze",
     ["too many small launches", "torch.compile is used already", "reduce-overhead"], []),
    ("small launches of no framework", small_kernels("tiny"), "analyze", ["too many small launches"], ["torch", "jit"]),
    ("no pool", allocates("cudaMalloc_v3020", "cudaFree_v3020"), "analyze",
     ["allocation or free", "from a pool (cudaMallocAsync)"], ["release threshold"]),
    ("host memory", allocates("cudaHostAlloc_v3020"), "analyze",
     ["Pinning host memory (cudaHostAlloc)"], ["from a pool", "release threshold"]),
    ("a program reads", reads("./solver"), "analyze", ["Do this I/O (read) in another thread"], PYTHON_WORDS),
    ("a Python program reads", reads("python"), "analyze", ["Do this I/O (read) in another thread"],
     ["num_workers", "PyTorch"]),
    ("a PyTorch program reads", reads("python", TORCH_KERNEL), "analyze", ["num_workers"], ["TensorFlow"]),
    ("a program waits", waits("./solver"), "analyze", ["works between cudaStreamSynchronize and its next launch"],
     PYTHON_WORDS),
    ("PyTorch by its library", waits("python3", library="/lib/python3/site-packages/torch/lib/libtorch_cuda.so"),
     "analyze", ["PyTorch (libraries)", ".item()"], []),
    ("PyTorch by its ranges", waits("python3", range_="aten::sum"), "analyze", ["PyTorch (NVTX ranges)", ".item()"], []),
    ("JAX by its kernels", waits("python3.12", "loop_add_fusion_3"), "analyze", ["JAX (kernel names)", "block_until_ready"],
     [".item()", "PyTorch"]),
    ("first launches", first_launches, "analyze",
     ["slow launch", "first launches of their kernels", "warm up before the part that counts"], ["CUDA graph)"]),
    ("a wait before each launch", waits_before_launch("cudaDeviceSynchronize_v3020", 8 * US), "analyze",
     ["slow launch", "launches only when cudaDeviceSynchronize has returned"], ["warm up", "launch once for many"]),
    ("a wait before each launch, of the driver", waits_before_launch("cuStreamSynchronize", 14 * US), "analyze",
     ["launches only when cuStreamSynchronize has returned"], ["warm up"]),
    ("slow launches", slow_launches, "analyze", ["slow launch"], ["warm up", "CUDA_MODULE_LOADING", "first launches"]),
]
