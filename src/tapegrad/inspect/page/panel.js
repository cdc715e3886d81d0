"use strict";
// What is known of the item that was clicked.

const text = (value) => String(value).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const number = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(2) : String(+x.toPrecision(4)));

function showPanel(item) {
  const panel = document.getElementById("panel");
  if (!item) panel.innerHTML = overview();
  else if (item[0] === "v") panel.innerHTML = aboutVertex(parseInt(item.slice(1), 10));
  else if (item[0] === "g") panel.innerHTML = aboutGroup(parseInt(item.slice(1), 10));
  else if (item[0] === "k") panel.innerHTML = aboutKept(...item.slice(1).split(".").map(Number));
  else panel.innerHTML = aboutEdge(item);
  panel.scrollTop = 0;
}

function table(rows) {
  const lines = rows.filter((row) => row[1] !== "" && row[1] !== null && row[1] !== undefined);
  return `<table>${lines.map(([a, b]) => `<tr><td>${a}</td><td>${b}</td></tr>`).join("")}</table>`;
}

const link = (v) => {
  const vertex = data.vertices[v];
  return `<a data-vertex="${v}">${text(short(vertex.name) || "leaf")} ${text(vertex.shape)}</a>`;
};

function overview() {
  const n = (kind) => data.vertices.filter((v) => v.kind === kind).length;
  const stand = ["nan", "exploding", "vanishing", "zero"]
    .map((state) => [state, data.edges.map((e, i) => (e.state === state ? i : -1)).filter((i) => i >= 0)])
    .filter(([, edges]) => edges.length);
  let html = `<h2>${text(data.title)}</h2><p class="dim">Click a node, an edge or a layer. Double click folds a layer.</p>`;
  html += table([
    ["operators", n("operator")], ["parameters", n("parameter")], ["other leaves", n("leaf")],
    ["layers", data.groups.filter((g) => g.kind).length], ["kept", bytes(data.bytes)],
  ]);
  if (!data.timed.length) {
    html += `<h3>gradients</h3><p class="dim">None were noted. Ask for graph(loss, gradients=True), or run
      the backward pass inside tapegrad.inspect.watch(gradients=True).</p>`;
  }
  if (stand.length) html += "<h3>what stands out</h3>";
  for (const [state, edges] of stand) {
    html += `<p><span class="state ${state}">${state}</span> on ${edges.length} edges</p>`;
    html += edges.slice(0, 8).map((i) => `<div>${link(data.edges[i].source)} ← ${link(data.edges[i].target)}</div>`).join("");
  }
  return html;
}

function flowTable(flow, state) {
  if (!flow) return "";
  const odd = [flow.nan ? `${flow.nan} nan` : "", flow.inf ? `${flow.inf} inf` : ""].filter(Boolean).join(", ");
  return table([
    ["norm", `${number(flow.norm)}${state ? ` <span class="state ${state}">${state}</span>` : ""}`],
    ["min, max", `${number(flow.low)}, ${number(flow.high)}`],
    ["zeros", flow.zero ? `${flow.zero} of ${flow.n}` : ""], ["not finite", odd], ["shape", text(flow.shape)],
  ]) + histogram(flow);
}

function histogram(flow) {
  if (!flow.bins.length) return "";
  const most = Math.max(...flow.bins), width = 290 / flow.bins.length;
  const bars = flow.bins.map((n, i) => {
    const h = n ? Math.max(1, (n / most) * 44) : 0;
    return `<rect x="${(i * width).toFixed(1)}" y="${(46 - h).toFixed(1)}" width="${(width - 1).toFixed(1)}" height="${h.toFixed(1)}"></rect>`;
  });
  return `<svg class="histogram" width="290" height="46" role="img" aria-label="histogram">${bars.join("")}</svg>`;
}

function aboutVertex(i) {
  const v = data.vertices[i];
  const rules = (v.rules || []).map((r) => data.rules[r]);
  let html = `<h2>${text(v.kind === "operator" ? v.name : v.name || "leaf")}</h2>`;
  html += `<p>${text(v.kind === "operator" ? v.doc : v.kind)}</p>`;
  html += table([["shape", text(v.shape)], ["dtype", text(v.dtype)], ["values", text(v.values)], ["layer", text(v.module)], ["line", text(v.place)]]);
  if (v.code) html += `<pre class="code">${text(v.code)}</pre>`;
  if (now !== null) html += gradientsOf(i); // while the pass is walked they come first
  if (rules.length) html += "<h3>derivative</h3>";
  for (const rule of rules) {
    html += rule.formula + `<pre class="rule">${text(rule.source)}</pre><p class="dim">${text(rule.place)}</p>`;
  }
  if (v.kind === "operator") {
    html += "<h3>keeps</h3>";
    if (v.kept === null) html += '<p class="dim">a backward pass has freed it</p>';
    else if (!v.kept.length) html += '<p class="dim">nothing</p>';
    else html += table(v.kept.map((k) => [text(k.name), `${text(k.text)}${k.bytes ? `, <b>${bytes(k.bytes)}</b>` : ""}`]));
  }
  const sources = inputs[i], targets = users[i];
  if (sources.length) html += "<h3>inputs</h3>" + table(sources.map((e) => [text(data.edges[e].input), link(data.edges[e].source)]));
  if (targets.length) html += "<h3>used by</h3>" + targets.map((e) => `<div>${link(data.edges[e].target)}</div>`).join("");
  return now === null ? html + gradientsOf(i) : html;
}

function gradientsOf(i) {
  const received = (data.vertices[i].received || []).filter(Boolean);
  let html = "";
  received.forEach((flow, k) => {
    html += `<h3>gradient received${received.length > 1 ? ` by output ${k}` : ""}</h3>` + flowTable(flow, "");
  });
  for (const e of inputs[i]) {
    const edge = data.edges[e];
    if (edge.flow) html += `<h3>gradient sent to ${text(edge.input)}</h3>` + flowTable(edge.flow, edge.state);
  }
  return html;
}

function aboutGroup(g) {
  const group = data.groups[g];
  const inside = within[g].map((v) => data.vertices[v]);
  let html = `<h2>${text(group.label)}</h2><p class="dim">${text(group.kind || "a stretch of the program")}</p>`;
  html += `<p><button data-group="${g}">${open.has(g) ? "fold" : "unfold"}</button></p>`;
  html += table([
    ["name", text(group.name)], ["operators", inside.filter((v) => v.kind === "operator").length],
    ["parameters", inside.filter((v) => v.kind === "parameter").length],
    ["kept", bytes(sum(inside.flatMap((v) => (v.kept || []).map((k) => k.bytes))))],
  ]);
  const counts = new Map();
  inside.forEach((v) => v.kind === "operator" && counts.set(short(v.name), (counts.get(short(v.name)) || 0) + 1));
  html += "<h3>operators</h3>" + table([...counts].sort((a, b) => b[1] - a[1]).map(([name, n]) => [text(name), n]));
  return html;
}

function aboutKept(v, k) {
  const kept = data.vertices[v].kept[k];
  return `<h2>${text(kept.name)}</h2><p>kept by ${link(v)} for its derivative</p>` +
    table([["tensor", text(kept.text)], ["memory", kept.bytes ? bytes(kept.bytes) : "that of a leaf"]]);
}

function aboutEdge(id) {
  const drawn = cy.getElementById(id).data();
  if (drawn.saved) return aboutKept(...drawn.source.slice(1).split(".").map(Number));
  let html = `<h2>${drawn.edges.length > 1 ? `${drawn.edges.length} edges` : "edge"}</h2>`;
  for (const i of drawn.edges.slice(0, 12)) {
    const edge = data.edges[i];
    html += `<h3>${link(edge.source)} → ${link(edge.target)}</h3>`;
    html += table([["as", text(edge.input)], ["output", edge.port || ""]]);
    html += edge.flow ? '<p class="dim">the gradient that went back along it</p>' + flowTable(edge.flow, edge.state) : "";
  }
  if (drawn.edges.length > 12) html += `<p class="dim">and ${drawn.edges.length - 12} more</p>`;
  return html;
}
