// Python, in a thread of its own: a program that runs for ever, or that needs more stack than a
// browser has, ends this thread and not the page.

const folder = new URL(".", self.location.href);
const pyodideUrl = new URL(self.location.href).searchParams.get("pyodide");
let python = null, runner = null;

const say = (kind, value) => self.postMessage({ kind, value });

async function fetched(name) {
  const answer = await fetch(new URL(name, folder));
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  return answer;
}

async function start() {
  say("status", "Python is being loaded");
  const { loadPyodide } = await import(`${pyodideUrl}pyodide.mjs`);
  python = await loadPyodide({ indexURL: pyodideUrl });
  const batched = (text) => say("output", `${text}\n`);
  python.setStdout({ batched });
  python.setStderr({ batched });
  python.setStdin({ stdin: () => null }); // nobody answers: input() raises EOFError
  say("status", "NumPy is being loaded");
  await python.loadPackage("numpy");
  say("status", "tapegrad is being loaded");
  python.unpackArchive(await (await fetched("tapegrad.whl")).arrayBuffer(), "wheel");
  python.FS.writeFile("runner.py", await (await fetched("runner.py")).text());
  runner = python.pyimport("runner");
  say("ready", "");
}

async function run(code) {
  const result = runner.run(code), page = result.get("page"), missing = result.get("missing");
  result.destroy();
  if (missing === "scipy") { // large, and few programs need it
    say("output", "\nSciPy is being loaded; then the program runs again.\n\n");
    await python.loadPackage("scipy");
    return run(code);
  }
  say("done", page);
}

self.onmessage = (event) => run(event.data).catch((error) => say("fatal", String(error)));
start().catch((error) => say("failed", String(error)));
