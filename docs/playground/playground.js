"use strict";
// The page: an editor, what the program prints, the page of its graph.

const PYODIDE = "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/"; // another copy of it: change this
const INDENT = "    ";

const element = (id) => document.getElementById(id);
let worker = null, state = "loading"; // "ready", "running", "failed"

function show(words, now = state) {
  state = now;
  element("status").textContent = words;
  element("run").disabled = state !== "ready";
  element("stop").disabled = state !== "running";
}

function print(text) {
  const output = element("output");
  output.textContent += text;
  output.scrollTop = output.scrollHeight;
}

const SAID = {
  status: (words) => show(words),
  ready: () => show("ready", "ready"),
  output: print,
  done: (page) => {
    if (page) element("graph").srcdoc = page;
    element("hint").hidden = Boolean(page);
    element("graph").hidden = !page;
    show("ready", "ready");
  },
  fatal: (error) => {
    print(`\n${error}\nThe program needed more than a browser has, stack or memory; Python starts anew.\n`);
    startPython();
  },
  failed: (error) => {
    print(`Python could not be loaded: ${error}\nIt comes from ${PYODIDE}: is there a network?\n`);
    show("Python could not be loaded", "failed");
  },
};

function startPython() {
  if (worker) worker.terminate();
  show("Python is being loaded", "loading");
  worker = new Worker(`worker.js?pyodide=${encodeURIComponent(new URL(PYODIDE, location.href))}`, { type: "module" });
  worker.onmessage = ({ data }) => SAID[data.kind](data.value);
  worker.onerror = (event) => SAID.failed(event.message || "its thread did not start");
}

function run() {
  if (state !== "ready") return;
  element("output").textContent = "";
  show("running", "running");
  worker.postMessage(element("code").value);
}

function stop() {
  print("\nstopped; Python starts anew\n");
  startPython();
}

function colour() {
  element("colours").innerHTML = highlighted(element("code").value);
  follow();
}

function follow() {
  const { scrollTop, scrollLeft } = element("code");
  Object.assign(element("colours"), { scrollTop, scrollLeft });
}

function setCode(code) {
  element("code").value = code;
  element("code").scrollTop = 0;
  colour();
}

// Tab indents; Enter indents as the line above, and more after a colon. Escape lets Tab leave.
function onKey(event) {
  const code = element("code"), from = code.selectionStart;
  let typed = "";
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") return void (event.preventDefault(), run());
  if (event.key === "Escape") return element("run").focus();
  if (event.key === "Tab" && !event.shiftKey) typed = INDENT;
  if (event.key === "Enter") {
    const line = code.value.slice(code.value.lastIndexOf("\n", from - 1) + 1, from);
    typed = "\n" + line.match(/^ */)[0] + (line.trimEnd().endsWith(":") ? INDENT : "");
  }
  if (!typed) return;
  event.preventDefault();
  document.execCommand("insertText", false, typed); // so that it can be undone
}

async function share() {
  history.replaceState(null, "", await hashOf(element("code").value));
  await navigator.clipboard.writeText(location.href);
  show("the link is copied");
}

async function open(example) {
  setCode(await (await fetch(`examples/${example}`)).text());
  history.replaceState(null, "", location.pathname);
}

async function begin() {
  const examples = await (await fetch("examples/examples.json")).json();
  element("examples").innerHTML = Object.entries(examples).map(([file, title]) =>
    `<option value="${escaped(file)}">${escaped(title)}</option>`).join("");
  element("examples").onchange = () => open(element("examples").value);
  element("run").onclick = run;
  element("stop").onclick = stop;
  element("share").onclick = share;
  element("code").oninput = colour;
  element("code").onscroll = follow;
  element("code").onkeydown = onKey;
  if (location.hash.startsWith("#code=")) setCode(await codeIn(location.hash));
  else await open(Object.keys(examples)[0]);
  document.body.dataset.begun = "";
}

startPython();
begin();
