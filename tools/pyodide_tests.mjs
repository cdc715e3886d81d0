// The tests in a browser's Python: each path in a process of its own, under Node.js.
//
//     node tools/pyodide_tests.mjs PYODIDE PACKAGES [--limit SECONDS] PATH...
//
// PYODIDE is the folder of npm's package `pyodide`; PACKAGES has NumPy built for it, pytest and
// Hypothesis. A path is a file or a folder of tests; of a folder the short tier is run, with `::`
// one test. What needs threads, processes, sockets, a loop of asyncio, SciPy or ml_dtypes, which are not there, is
// skipped. What has not ended after the limit (600 seconds) is stopped and said to be. Ends with 1
// where anything failed.

import { spawnSync } from "node:child_process";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const PYTEST = ["-q", "--capture=sys", "-p", "no:faulthandler", "-p", "no:cacheprovider", "-rfEs", "--tb=short"];

async function run(pyodide, packages, path) {
  const { loadPyodide } = await import(pathToFileURL(resolve(pyodide, "pyodide.mjs")));
  const python = await loadPyodide({ indexURL: `${resolve(pyodide)}/`, env: { HOME: "/home/pyodide", TAPEGRAD_TESTS: "short" } });
  for (const [folder, place] of [[ROOT, "/tree"], [resolve(packages), "/packages"]]) {
    python.FS.mkdir(place);
    python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, place);
  }
  python.globals.set("arguments", python.toPy([...PYTEST, path]));
  return python.runPython(`
import os, socket, sys
sys.dont_write_bytecode = True
sys.path[:0] = ["/tree/src", "/tree", "/packages"]
os.chdir("/tree")
import pytest

def listen(self, backlog=0):  # Node.js would look for a package and end
    raise OSError("emscripten does not support sockets that listen")

socket.socket.listen = listen
ABSENT = ("'scipy'", "'ml_dtypes'", "start new thread", "emscripten does not support", "a browser ",
          "running event loop", "never awaited")

class Skips:
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        error = call.excinfo and call.excinfo.value
        while error is not None and not any(what in str(error) for what in ABSENT):
            error = error.__cause__ or error.__context__
        report = yield
        if error is not None and report.failed:
            report.outcome, report.longrepr = "skipped", (str(item.path), 0, f"Skipped: {error}")
        return report

int(pytest.main(arguments, [Skips()]))
`);
}

function each(pyodide, packages, paths, limit) {
  const failed = [];
  for (const path of paths) {
    const start = Date.now();
    const command = [fileURLToPath(import.meta.url), pyodide, packages, "--here", path];
    const { status, stdout } = spawnSync(process.execPath, command, {
      encoding: "utf8", maxBuffer: 1 << 28, timeout: limit * 1000, killSignal: "SIGKILL", stdio: ["ignore", "pipe", "inherit"],
    });
    const end = status === null ? `no end in ${limit} s` : status === 5 ? "no tests" : `${status}`;
    const text = stdout.trimEnd();
    if (status !== 0 && status !== 5) {
      failed.push(path);
      console.log(text);
    }
    console.log(`${path}: ${end}, ${Math.round((Date.now() - start) / 1000)} s: ${text.slice(text.lastIndexOf("\n") + 1)}`);
  }
  console.log(failed.length ? `failed: ${failed.join(", ")}` : "all good");
  return failed.length ? 1 : 0;
}

const [pyodide, packages, ...rest] = process.argv.slice(2);
const limit = rest[0] === "--limit" ? Number(rest.splice(0, 2)[1]) : 600;
if (!rest.length) {
  console.error("node tools/pyodide_tests.mjs PYODIDE PACKAGES [--limit SECONDS] PATH...");
  process.exit(2);
}
process.exitCode = rest[0] === "--here" ? await run(pyodide, packages, rest[1]) : each(pyodide, packages, rest, limit);
