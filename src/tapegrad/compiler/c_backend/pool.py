"""Threads that share long work: one pool for all compiled programs of a process.

The pool is a library of its own. Programs are given the address of its `tg_share`; how many threads
there shall be is a number of each call. Threads start with the first work that is shared, look for
more a millisecond long and then sleep, and are started anew in a child process that was forked.
While they look they let others have the core: to be woken takes 40 to 70 microseconds, and eager
code shares work every few hundred. Work that comes while another program uses the pool runs in its
own thread.

Products of a BLAS are work of which the BLAS itself uses one thread for as long: its own threads
and these are never there at once. They have no more of them than the BLAS may use.
"""

import ctypes
import sys
from functools import cache
from typing import Any

from tapegrad.compiler.c_backend import blas
from tapegrad.compiler.c_backend import cache as libraries
from tapegrad.compiler.c_backend.toolchain import compiler

MOST_PARTS = 64
"""Into which work is cut."""

IS_THERE = sys.platform != "win32"
"""Whether this system has POSIX threads."""

BINDING = "void bind_pool(void *share) { tg_share = (tg_share_type)share; }\n"
"""What a program that shares work says of the pool."""

SOURCE = """\
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

#define MOST 256        /* threads */
#define LOOK 1000000    /* nanoseconds that a thread looks for work */
#define SOON 50000      /* and that who shares work looks for the end of it */
#define READ(x) __atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define WRITE(x, y) __atomic_store_n(&(x), y, __ATOMIC_SEQ_CST)

typedef void (*run_type)(void *, int64_t, int64_t, int);

static pthread_mutex_t busy, lock; /* whoever shares work; who sleeps */
static pthread_cond_t ends;
static struct {
    pthread_cond_t begins;
    int sleeps;
} threads[MOST];
static int started, wanted, active, is_open, sleeps; /* threads; how many may work, and do */
static run_type run;
static void *given;
static int64_t size;
static int parts, next;
static int are_ours; /* products: no BLAS has threads for them */
static int (*blas_threads)(void);
static void (*set_blas_threads)(int);

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void take(void) {
    for (;;) {
        const int part = __atomic_fetch_add(&next, 1, __ATOMIC_SEQ_CST);
        if (part >= parts) return;
        run(given, size * part / parts, size * (part + 1) / parts, part);
    }
}

static int has_work(int number) {
    return READ(is_open) && number < READ(wanted) && READ(next) < READ(parts);
}

static void sleep_until_work(int number) {
    pthread_mutex_lock(&lock);
    WRITE(threads[number].sleeps, 1);
    while (!has_work(number)) pthread_cond_wait(&threads[number].begins, &lock);
    WRITE(threads[number].sleeps, 0);
    pthread_mutex_unlock(&lock);
}

static void *work(void *x) {
    const int number = (int)(intptr_t)x;
    for (;;) {
        for (int64_t end = now() + LOOK; !has_work(number) && now() < end;) sched_yield();
        if (!has_work(number)) sleep_until_work(number);
        /* whoever shares waits for the active; who comes too late sees that it is not open */
        __atomic_add_fetch(&active, 1, __ATOMIC_SEQ_CST);
        if (has_work(number)) take();
        if (__atomic_sub_fetch(&active, 1, __ATOMIC_SEQ_CST) == 0 && READ(sleeps)) {
            pthread_mutex_lock(&lock);
            pthread_cond_signal(&ends);
            pthread_mutex_unlock(&lock);
        }
    }
    return 0;
}

/* Threads that signals do not reach: Python's own thread handles them */
static void start(int n) {
    sigset_t all, before;
    pthread_t thread;
    if (started >= n) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < n && !pthread_create(&thread, 0, work, (void *)(intptr_t)started)) {
        pthread_detach(thread);
        started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, 0);
}

static void wake(int n) {
    for (int i = 0; i < n; i++) {
        if (!READ(threads[i].sleeps)) continue;
        pthread_mutex_lock(&lock);
        pthread_cond_signal(&threads[i].begins);
        pthread_mutex_unlock(&lock);
    }
}

static void wait_for_the_active(void) {
    for (int64_t end = now() + SOON; READ(active) && now() < end;) continue;
    if (!READ(active)) return;
    pthread_mutex_lock(&lock);
    WRITE(sleeps, 1);
    while (READ(active)) pthread_cond_wait(&ends, &lock);
    WRITE(sleeps, 0);
    pthread_mutex_unlock(&lock);
}

static void share(int n_threads) {
    start(n_threads - 1);
    WRITE(wanted, n_threads - 1);
    WRITE(next, 0);
    WRITE(is_open, 1);
    wake(parts < n_threads ? parts - 1 : n_threads - 1);
    take();
    WRITE(is_open, 0);
    wait_for_the_active();
}

/* f(x, first, last, part) for `n_parts` parts of 0..n, by this thread and up to n_threads - 1.
   Products: one part where they are not shared, and the BLAS has one thread meanwhile */
void tg_share(run_type f, void *x, int64_t n, int n_parts, int n_threads, int products) {
    const int before = products && blas_threads ? blas_threads() : 1;
    if (products && !are_ours && n_threads > before) n_threads = before;
    if (n_threads > MOST) n_threads = MOST;
    if (products && n_threads < 2) n_parts = 1;
    if ((n_threads < 2 && before < 2) || pthread_mutex_trylock(&busy)) {
        if (products) n_parts = 1;
        for (int i = 0; i < n_parts; i++) f(x, n * i / n_parts, n * (i + 1) / n_parts, i);
        return;
    }
    run = f, given = x, size = n;
    WRITE(parts, n_parts);
    if (before > 1) set_blas_threads(1);
    if (n_threads > 1 && n_parts > 1)
        share(n_threads);
    else
        f(x, 0, n, 0);
    if (before > 1) set_blas_threads(before);
    pthread_mutex_unlock(&busy);
}

void bind_blas(void *get, void *set, int ours) {
    are_ours = ours;
    blas_threads = (int (*)(void))get;
    set_blas_threads = (void (*)(int))set;
}

static void renew(void) { /* in a child process no thread is left */
    started = active = is_open = sleeps = 0;
    pthread_mutex_init(&busy, 0);
    pthread_mutex_init(&lock, 0);
    pthread_cond_init(&ends, 0);
    for (int i = 0; i < MOST; i++) {
        pthread_cond_init(&threads[i].begins, 0);
        threads[i].sleeps = 0;
    }
}

__attribute__((constructor)) static void prepare(void) {
    renew();
    pthread_atfork(0, 0, renew);
}
"""


def bind(library: Any) -> None:
    """Give a program's library the pool. Raises CompilerMissing where it cannot be compiled."""
    library.bind_pool.argtypes, library.bind_pool.restype = [ctypes.c_void_p], None
    library.bind_pool(ctypes.cast(_library().tg_share, ctypes.c_void_p))


@cache
def _library() -> Any:
    found = libraries.library(SOURCE, compiler())
    kernels = blas.found()
    found.bind_blas.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    found.bind_blas.restype = None
    found.bind_blas(*kernels.threads, kernels.convention == "own")
    return found
