"use strict";
// What is known of the item that was chosen.

const text = (value) => String(value).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const number = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(2) : String(+x.toPrecision(4)));
const nested = (x) => (Array.isArray(x) ? `[${x.map(nested).join(", ")}]` : typeof x === "string" ? x : number(x));
const prose = (words) => text(words).replace(/`([^`]+)`/g, "<code>$1</code>");
const LISTED = 50, SMALLEST = 11; // links in a list; letters of a formula, in pixels

function showPanel(item) {
  const panel = document.getElementById("panel");
  if (!item) panel.innerHTML = overview();
  else if (item[0] === "v") panel.innerHTML = aboutVertex(numberOf(item));
  else if (item[0] === "g") panel.innerHTML = aboutGroup(numberOf(item));
  else if (item[0] === "k") panel.innerHTML = aboutKept(...item.slice(1).split(".").map(Number));
  else panel.innerHTML = aboutEdge(item);
  panel.querySelectorAll("math").forEach(shrink);
  panel.scrollTop = 0;
}

// Let a long formula have smaller letters, as far as these can be read.
function shrink(formula) {
  const size = parseFloat(getComputedStyle(formula).fontSize), ratio = formula.clientWidth / formula.scrollWidth;
  if (ratio < 1) formula.style.fontSize = `${Math.max(size * ratio - 0.3, SMALLEST)}px`;
}

function table(rows) {
  const lines = rows.filter((row) => row[1] !== "" && row[1] !== null && row[1] !== undefined);
  return `<table>${lines.map(([a, b]) => `<tr><td>${a}</td><td>${b}</td></tr>`).join("")}</table>`;
}

const inputName = (name) => text(/^\d+$/.test(name) ? `input ${name}` : name);
const titleOf = (v) => `${short(data.vertices[v].name) || "leaf"} ${data.vertices[v].shape}`.trim();
const link = (v) => `<button class="link" data-vertex="${v}">${text(titleOf(v))}</button>`;
const edgeLink = (i) => {
  const { source, target } = data.edges[i];
  return `<div><button class="link" data-edge="${i}">${text(titleOf(target))} → ${text(titleOf(source))}</button></div>`;
};

function overview() {
  if (data.program) return aboutProgram();
  const n = (kind) => data.vertices.filter((v) => v.kind === kind).length;
  let html = `<h2>${text(data.title)}</h2>`;
  html += table([
    ["operators", n("operator")], ["parameters", n("parameter") || ""], ["other leaves", n("leaf") || ""],
    ["layers", data.groups.filter((g) => g.kind).length || ""], ["kept", `${bytes(data.bytes)} for the backward pass`],
  ]);
  return html + whatStandsOut() + howToLook("Values flow down along the arrows, gradients back up. " +
    "Click an operator, an edge or a layer to see what is known of it.");
}

function howToLook(words) {
  let html = `<h3>how to look at it</h3><p class="dim">${words}</p>`;
  const keys = [
    [["drag", "wheel"], "move and zoom"], [["/"], "search; Enter goes to the next"],
    [["↑", "↓"], "along the graph"], [["f"], "see all of it"], [["Esc"], "back to this page"],
  ];
  if (data.groups.length) keys.splice(3, 0, [["Enter"], "fold or unfold a layer, as a click on ▸ and ▾ does"]);
  if (data.timed.length) keys.splice(3, 0, [["→", "←"], "step the backward pass; space lets it run"]);
  html += table(keys.map(([names, what]) => [names.map((each) => `<kbd>${each}</kbd>`).join(" "), what]));
  return html;
}

function whatStandsOut() {
  if (!data.timed.length) {
    return `<h3>gradients</h3><p class="dim">None were noted. Ask for graph(loss, gradients=True), or run
      the backward pass inside tapegrad.inspect.watch(gradients=True).</p>`;
  }
  const ran = (i) => data.vertices[data.edges[i].target].time ?? -1; // as the pass came by
  const found = STATES
    .map((state) => [state, data.edges.map((_, i) => i).filter((i) => data.edges[i].state === state)])
    .filter(([, edges]) => edges.length);
  if (!found.length) return '<h3>gradients</h3><p class="dim">None is nan, exploding, vanishing or zero.</p>';
  const meaning = {
    nan: "not a number", exploding: "100 000 times larger than at the start, or infinite",
    vanishing: "100 000 times smaller than at the start", zero: "all zero",
  };
  let html = "<h3>what stands out</h3>";
  for (const [state, edges] of found) {
    edges.sort((a, b) => ran(a) - ran(b));
    html += `<p><span class="state ${state}">${state}</span> on ${some(edges.length, "edge")}: ${meaning[state]}.
      ${edges.length > 1 ? "The first ones that the pass came to:" : ""}</p>`;
    html += edges.slice(0, 6).map(edgeLink).join("");
    for (const why of new Set(edges.map((i) => data.edges[i].why).filter(Boolean))) {
      const names = edges.filter((i) => data.edges[i].why === why).map((i) => data.vertices[data.edges[i].source].name || "leaf");
      html += `<p class="dim"><b>${text(names.slice(0, 6).join(", "))}${names.length > 6 ? ", …" : ""}</b>: ${text(why)}</p>`;
    }
  }
  return html;
}

function aboutHits(hits) {
  const named = hits.slice(0, LISTED).map((v) => {
    const where = [data.vertices[v].module, data.vertices[v].place.split(/[\\/]/).pop()].filter(Boolean).join(", ");
    return `<div>${link(v)} <span class="dim">${text(where)}</span></div>`;
  });
  if (hits.length > LISTED) named.push(`<p class="dim">and ${hits.length - LISTED} more</p>`);
  return `<h2>${hits.length.toLocaleString("en")} found</h2>` + named.join("");
}

function flowTable(flow, state, why = "") {
  if (!flow) return "";
  const odd = [flow.nan ? `${flow.nan} nan` : "", flow.inf ? `${flow.inf} inf` : ""].filter(Boolean).join(", ");
  const mark = state ? ` <span class="state ${state}">${state}</span>` : "";
  const norm = flow.nan || flow.inf ? `${number(flow.norm)} of what is finite` : number(flow.norm);
  const one = flow.n === 1 && flow.values !== null;
  return table([
    [one ? "value" : "values", flow.values === null ? "" : text(nested(flow.values)) + (one ? mark : "")],
    ["norm", one ? "" : norm + mark], ["min, max", one ? "" : `${number(flow.low)}, ${number(flow.high)}`],
    ["zeros", flow.zero && !one ? `${flow.zero} of ${flow.n}` : ""], ["not finite", odd],
    ["shape", text(flow.shape)],
  ]) + (why && `<p class="dim">${text(why)}</p>`) + histogram(flow);
}

function histogram(flow) {
  if (!flow.bins.length) return "";
  const most = Math.max(...flow.bins), width = 290 / flow.bins.length;
  const bars = flow.bins.map((n, i) => {
    const h = n ? Math.max(1, (n / most) * 44) : 0;
    return `<rect x="${(i * width).toFixed(1)}" y="${(46 - h).toFixed(1)}" width="${(width - 1).toFixed(1)}" height="${h.toFixed(1)}"></rect>`;
  });
  return `<svg class="histogram" viewBox="0 0 290 46" width="100%" role="img" aria-label="histogram">${bars.join("")}</svg>` +
    `<div class="scale"><span>${number(flow.low)}</span><span>${number(flow.high)}</span></div>`;
}

// What the letters in a rule mean.
function meaning(names) {
  const said = names.map((name) => {
    if (name === "g" || name.startsWith("g_")) return `${name}: the gradient that arrives`;
    if (name === "y") return "y: what the operator computed";
    if (name === "ctx") return "ctx: what forward saved";
    return name.endsWith("_like") ? `${name}: shape and dtype of ${name.slice(0, -5)}` : "";
  });
  return said.filter(Boolean).map(text).join("; ");
}

function derivativeOf(v) {
  let html = v.rules.length ? "<h3>derivative</h3>" : "";
  for (const rule of v.rules.map((r) => data.rules[r])) {
    html += rule.formula + `<p class="dim">${meaning(rule.names)}</p>`;
    html += `<pre class="rule">${text(rule.source)}</pre><p class="dim">${text(rule.place)}</p>`;
  }
  return html;
}

function aboutVertex(i) {
  const v = data.vertices[i];
  let html = `<h2>${text(v.kind === "operator" ? v.name : v.name || "leaf")}</h2>`;
  html += `<p>${v.kind === "operator" ? prose(v.doc) : v.kind}</p>`;
  html += table([["shape", text(v.shape)], ["dtype", text(v.dtype)], ["values", text(v.values)], ["layer", text(v.module)], ["line", text(v.place)]]);
  if (v.code) html += `<pre class="code">${text(v.code)}</pre>`;
  if (v.part) html += aboutPart(v);
  html += programOf(v);
  // While the pass is walked: what arrives, the rule, what goes on.
  html += now === null ? derivativeOf(v) : receivedBy(i) + derivativeOf(v) + sentBy(i);
  if (v.kind === "operator" && !v.part) {
    html += "<h3>keeps</h3>";
    if (v.kept === null) html += '<p class="dim">a backward pass has freed it</p>';
    else if (!v.kept.length) html += '<p class="dim">nothing</p>';
    else html += table(v.kept.map((k) => [text(k.name), `${text(k.text)}${k.bytes ? `, <b>${bytes(k.bytes)}</b>` : ""}`]));
  }
  const sources = inputs[i], targets = users[i];
  if (sources.length) html += "<h3>inputs</h3>" + table(sources.map((e) => [inputName(data.edges[e].input), link(data.edges[e].source)]));
  if (targets.length) html += "<h3>used by</h3>" + targets.slice(0, LISTED).map((e) => `<div>${link(data.edges[e].target)}</div>`).join("");
  if (targets.length > LISTED) html += `<p class="dim">and ${targets.length - LISTED} more</p>`;
  return now === null ? html + receivedBy(i) + sentBy(i) : html;
}

function receivedBy(i) {
  const v = data.vertices[i], received = v.received.filter(Boolean);
  const leaf = v.kind !== "operator" && v.kind !== "result", one = users[i].length === 1 && data.edges[users[i][0]];
  return received.map((flow, k) => {
    const output = received.length > 1 ? ` by output ${k}` : "";
    return `<h3>gradient received${leaf ? ", which is added to .grad" : output}</h3>` + (leaf && one ? flowTable(flow, one.state, one.why) : flowTable(flow, ""));
  }).join("");
}

function sentBy(i) {
  return inputs[i].map((e) => data.edges[e]).filter((edge) => edge.flow).map((edge) =>
    `<h3>gradient sent to ${inputName(edge.input)}, ${link(edge.source)}</h3>` + flowTable(edge.flow, edge.state, edge.why)).join("");
}

function aboutGroup(g) {
  const group = data.groups[g];
  const inside = within[g].map((v) => data.vertices[v]);
  let html = `<h2>${text(group.label)}</h2><p class="dim">${text(group.kind || "a stretch of the program")}</p>`;
  const word = open.has(g) ? "fold" : "unfold", n = alike(g).length;
  const kind = n > 1 ? ` <button data-kind="${g}">${word} all ${n} ${text(group.kind)}</button>` : "";
  html += `<p><button data-group="${g}">${word}</button>${kind}</p>`;
  html += table([
    ["name", text(group.name)],
    [data.program ? "parts" : "operators", inside.filter((v) => v.kind === "operator").length],
    ["parameters", inside.filter((v) => v.kind === "parameter").length || ""],
    ...(data.program ? costs(inside.filter((v) => v.part)) : [["kept", bytes(sum(inside.flatMap((v) => (v.kept || []).map((k) => k.bytes))))]]),
    ["gradients", STATES.filter((s) => troubles[g].has(s)).map((s) => `<span class="state ${s}">${s}</span>`).join(", ")],
  ]);
  const counts = new Map();
  inside.forEach((v) => v.kind === "operator" && counts.set(short(v.name), (counts.get(short(v.name)) || 0) + 1));
  html += `<h3>${data.program ? "parts" : "operators"}</h3>` + table([...counts].sort((a, b) => b[1] - a[1]).map(([name, n]) => [text(name), n]));
  return html;
}

function aboutKept(v, k) {
  const kept = data.vertices[v].kept[k];
  return `<h2>${text(kept.name)}</h2><p>kept by ${link(v)} for its derivative</p>` +
    table([["tensor", text(kept.text)], ["memory", kept.bytes ? bytes(kept.bytes) : "that of a leaf"]]);
}

function aboutEdge(id) {
  const drawn = cy.getElementById(id).data();
  if (!drawn) return overview(); // its ends were folded into one
  if (drawn.saved) return aboutKept(...drawn.source.slice(1).split(".").map(Number));
  let html = `<h2>${drawn.edges.length > 1 ? `${drawn.edges.length} edges` : "edge"}</h2>`;
  for (const i of drawn.edges.slice(0, 12)) {
    const edge = data.edges[i];
    html += `<h3>${link(edge.source)} → ${link(edge.target)}</h3>`;
    html += table([["as", inputName(edge.input)], ["output", edge.port || ""]]);
    html += edge.flow ? '<p class="dim">the gradient that went back along it</p>' + flowTable(edge.flow, edge.state, edge.why) : "";
  }
  if (drawn.edges.length > 12) html += `<p class="dim">and ${drawn.edges.length - 12} more</p>`;
  return html;
}
