"""Threads that share long loops: one pool for all compiled programs of a process.

The pool is a library of its own. Programs are given the address of its `tg_share`; how many threads
there shall be is a number of each call. Threads start with the first work that is shared, wait
without using the processor, and are started anew in a child process that was forked. Work that
comes while another program uses the pool runs in its own thread.
"""

import ctypes
import sys
from functools import cache
from typing import Any

from tapegrad.compiler.c_backend import cache as libraries
from tapegrad.compiler.c_backend.toolchain import compiler

MOST_PARTS = 64
"""Into which work is cut."""

IS_THERE = sys.platform != "win32"
"""Whether this system has POSIX threads."""

DECLARATIONS = """\
typedef void (*tg_run_type)(void *, int64_t, int64_t, int);
static void (*tg_share)(tg_run_type, void *, int64_t, int, int);
void bind_pool(void *share) { tg_share = (void (*)(tg_run_type, void *, int64_t, int, int))share; }
"""
"""What a program that shares loops says of the pool."""

SOURCE = """\
#include <pthread.h>
#include <signal.h>
#include <stdint.h>

typedef void (*run_type)(void *, int64_t, int64_t, int);

static pthread_mutex_t busy, lock; /* whoever shares work; what follows */
static pthread_cond_t begins, ends;
static int started, wanted, active, is_open; /* threads; how many may work, and do; for more */
static run_type run;
static void *given;
static int64_t size;
static int parts, next;

static void take(void) {
    for (;;) {
        const int part = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
        if (part >= parts) return;
        run(given, size * part / parts, size * (part + 1) / parts, part);
    }
}

static void *work(void *number) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!is_open || (intptr_t)number >= wanted ||
               __atomic_load_n(&next, __ATOMIC_RELAXED) >= parts)
            pthread_cond_wait(&begins, &lock);
        active++;
        pthread_mutex_unlock(&lock);
        take();
        pthread_mutex_lock(&lock);
        if (--active == 0) pthread_cond_signal(&ends);
    }
    return 0;
}

/* Threads that signals do not reach: Python's own thread handles them */
static void start(int n) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < n && !pthread_create(&thread, 0, work, (void *)(intptr_t)started)) {
        pthread_detach(thread);
        started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, 0);
}

/* f(x, first, last, part) for `n_parts` parts of 0..n, by this thread and up to n_threads - 1 */
void tg_share(run_type f, void *x, int64_t n, int n_parts, int n_threads) {
    if (n_threads < 2 || pthread_mutex_trylock(&busy)) {
        for (int i = 0; i < n_parts; i++) f(x, n * i / n_parts, n * (i + 1) / n_parts, i);
        return;
    }
    pthread_mutex_lock(&lock);
    start(n_threads - 1);
    run = f, given = x, size = n, parts = n_parts, next = 0, wanted = n_threads - 1, is_open = 1;
    pthread_cond_broadcast(&begins);
    pthread_mutex_unlock(&lock);
    take();
    pthread_mutex_lock(&lock);
    is_open = 0; /* a thread that wakes too late is not waited for */
    while (active) pthread_cond_wait(&ends, &lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&busy);
}

static void renew(void) { /* in a child process no thread is left */
    started = active = is_open = 0;
    pthread_mutex_init(&busy, 0);
    pthread_mutex_init(&lock, 0);
    pthread_cond_init(&begins, 0);
    pthread_cond_init(&ends, 0);
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
    return libraries.library(SOURCE, compiler())
