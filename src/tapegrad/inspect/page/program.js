"use strict";
// What is known of a compiled program, of its parts and of groups of them. The node of a compiled
// function in a graph has its program's page in this one: the same with other data.

const PARTS = { loop: "loop", product: "product of matrices", call: "call", python: "call by Python", check: "check" };
const SLOWEST = 8; // parts that are listed

const pageText = data.programs.length ? `<!doctype html>${document.documentElement.outerHTML}` : ""; // not drawn yet

function openProgram(i) {
  const [before, after] = pageText.split(document.getElementById("data").textContent);
  const inner = JSON.stringify(data.programs[i]).replaceAll("<", "\\u003c");
  location.assign(URL.createObjectURL(new Blob([before, inner, after], { type: "text/html" })));
}

function programOf(v) {
  if (v.program === null) return "";
  const { facts } = data.programs[v.program].program;
  return "<h3>its program</h3>" + table(facts.map((row) => row.map(text))) +
    `<p><button data-program="${v.program}">look at its parts</button></p>`;
}

// A figure with what stands before its unit: 12.3 k
function figure(x) {
  if (!x) return "0 ";
  for (const [size, sign] of [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"]]) {
    if (x >= size) return `${+(x / size).toPrecision(3)} ${sign}`;
  }
  return `${+(x * 1e6).toPrecision(3)} µ`;
}

const share = (seconds) => `${+((seconds / data.program.seconds) * 100).toPrecision(2)} %`;

function costs(several) {
  const total = (key) => sum(several.map((v) => v.part[key]));
  return [
    ["arithmetic", `${figure(total("flops"))}FLOP`], ["memory", `${figure(total("bytes"))}B`],
    ["at least", `${figure(total("seconds"))}s, ${share(total("seconds"))} of the program`],
  ];
}

// The line below the name of a folded group.
function summaryOf(inside) {
  const several = inside.filter((v) => v.part);
  return `${some(several.length, "part")}, ${share(sum(several.map((v) => v.part.seconds)))}`;
}

// Parts of the same operators and shape, those that take longest first: how long, and their numbers.
function slowest() {
  const found = new Map();
  data.vertices.forEach((vertex, i) => {
    if (!vertex.part) return;
    const [seconds, alike] = found.get(titleOf(i)) || [0, []];
    found.set(titleOf(i), [seconds + vertex.part.seconds, [...alike, i]]);
  });
  return [...found.values()].sort(([a], [b]) => b - a).slice(0, SLOWEST);
}

function list(words) {
  const rest = words.length - LISTED;
  return words.slice(0, LISTED).map((each) => `<div>${text(each)}</div>`).join("") +
    (rest > 0 ? `<p class="dim">and ${rest} more</p>` : "");
}

function aboutProgram() {
  const { facts, guards, programs } = data.program;
  const back = location.protocol === "blob:" ? '<p><button data-back="">back to the graph</button></p>' : "";
  let html = `<h2>${text(data.title)}</h2>${back}` + table(facts.map((row) => row.map(text)));
  html += "<h3>where the time goes at least</h3>" + table(slowest().map(([seconds, [first, ...rest]]) =>
    [share(seconds), link(first) + (rest.length ? ` and ${rest.length} like it` : "")]));
  html += `<h3>${some(programs.length, "program")}, that of the last call first</h3>` + list(programs);
  html += `<h3>holds for arguments of these shapes, dtypes and strides, and while ${some(guards.length, "thing")} are as they were</h3>`;
  return html + list(guards) + howToLook("Arrays flow down along the arrows. Click a part to see its source.");
}

function uses(title, several) {
  if (!several.length) return "";
  return `<h3>${title}</h3>` + table(several.map(([name, shape, n]) => [text(name), `${text(shape)}${n ? `, ${bytes(n)}` : ""}`]));
}

function aboutPart(v) {
  const { part } = v, fused = Object.entries(part.operators).map(([name, n]) => [text(name), n > 1 ? `×${n}` : " "]);
  let html = table([...costs([v]), ["limited by", part.limit]]);
  html += `<h3>source</h3><pre class="source">${text(part.lines)}</pre>`;
  html += part.functions.map((each) => `<pre class="source">${text(each)}</pre>`).join("");
  if (part.kind === "loop" && sum(Object.values(part.operators)) > 1) html += "<h3>fused in it</h3>" + table(fused);
  return html + uses("reads", part.reads) + uses("writes", part.writes);
}
