"use strict";
// What is shown: the record of the graph, which groups are open, which item stands for what.

const data = JSON.parse(document.getElementById("data").textContent);
const TOP = -1; // the group that everything is in
const SHOWN_AT_START = 90; // items; a larger graph shows fewer levels of layers first
const OPEN_AT_MOST = 2000; // by the buttons that unfold: some seconds of work
const COPIED = 3; // a leaf with more users than these is drawn beside each of them
const open = new Set();
let showSaved = false;

for (const vertex of data.vertices) { // words and gradients that many share stand in the file once
  for (const key of ["name", "dtype", "doc", "module", "place", "code"]) vertex[key] = data.words[vertex[key]];
  vertex.received = vertex.received.map((i) => (i === null ? null : data.flows[i]));
  if (!vertex.part) continue;
  for (const use of [...vertex.part.reads, ...vertex.part.writes]) use[0] = data.words[use[0]];
  vertex.part.functions = vertex.part.functions.map((i) => data.words[i]);
}
for (const edge of data.edges) {
  edge.input = data.words[edge.input];
  edge.why = data.words[edge.why];
  edge.flow = edge.flow === null ? null : data.flows[edge.flow];
}

// An item is a vertex ("v3"), a group ("g1"), what a vertex keeps ("k3.0"), or a copy of a leaf for
// one of its users ("c3:v7").
const members = new Map([[TOP, []], ...data.groups.map((_, i) => [i, []])]);
data.groups.forEach((group, i) => members.get(group.parent).push("g" + i));
data.vertices.forEach((vertex, i) => members.get(vertex.group).push("v" + i));

const inputs = data.vertices.map(() => []);
const users = data.vertices.map(() => []);
data.edges.forEach((edge, i) => {
  inputs[edge.target].push(i);
  users[edge.source].push(i);
});

const within = data.groups.map(() => []); // the vertices of a group, of those inside it too
data.vertices.forEach((vertex, i) => {
  for (let g = vertex.group; g !== TOP; g = data.groups[g].parent) within[g].push(i);
});

const STATES = ["nan", "exploding", "vanishing", "zero"]; // the worst first
const worst = (states) => STATES.find((state) => states.has(state)) || "";
const troubles = data.groups.map(() => new Set()); // the states of the edges inside a group
data.edges.forEach((edge) => {
  if (!edge.state) return;
  const groups = new Set(around("v" + edge.source));
  for (const g of around("v" + edge.target)) if (g !== TOP && groups.has(g)) troubles[g].add(edge.state);
});

const numberOf = (item) => parseInt(item.slice(1), 10);
const isLeaf = (v) => data.vertices[v].kind === "parameter" || data.vertices[v].kind === "leaf";

function parentOf(item) {
  if (item[0] === "c") return parentOf(item.slice(item.indexOf(":") + 1));
  const i = parseInt(item.slice(1), 10);
  return item[0] === "g" ? data.groups[i].parent : data.vertices[i].group;
}

// The groups around an item, innermost first, TOP last.
function around(item) {
  const found = [];
  for (let g = parentOf(item); ; g = data.groups[g].parent) {
    found.push(g);
    if (g === TOP) return found;
  }
}

// What stands for a vertex: itself, or the outermost closed group around it.
function shownFor(vertex) {
  let item = "v" + vertex;
  for (const g of around(item)) if (g !== TOP && !open.has(g)) item = "g" + g;
  return item;
}

const depths = data.groups.map(() => 1); // how many groups there are around what a group has in it
data.groups.forEach((group, i) => { if (group.parent !== TOP) depths[i] = depths[group.parent] + 1; });
const deepest = Math.max(0, ...depths);
let level = 0; // of groups that are open; groups that were opened by hand do not count

// How many items are shown where `n` levels of groups are open.
const shownAt = (n) => sum([TOP, ...depths.keys()].map((g) => (g === TOP || depths[g] <= n ? members.get(g).length - (g === TOP ? 0 : 1) : 0)));

// Open the outer `n` levels of groups, or as many as do not show more than `most` items.
function openLevels(n, most) {
  level = Math.min(n, deepest);
  while (level && shownAt(level) > most) level--;
  open.clear();
  depths.forEach((depth, g) => { if (depth <= level) open.add(g); });
}

// The groups of the class of one, itself among them.
const alike = (g) => [...depths.keys()].filter((each) => data.groups[each].kind && data.groups[each].kind === data.groups[g].kind);

function revealGroup(g) {
  for (const each of [g, ...around("g" + g)]) if (each !== TOP) open.add(each);
}

function reveal(vertex) {
  let changed = false;
  for (const g of around("v" + vertex)) {
    if (g !== TOP && !open.has(g)) changed = open.add(g) && true;
  }
  return changed;
}

let drawnAs = []; // by edge: the id of the drawn one that stands for it; "" inside a closed group
let copies = new Map(); // by leaf that is drawn several times: its copies

// Edges as they are drawn: those between the same two items are one.
function drawnEdges() {
  const found = new Map(), from = new Map();
  drawnAs = data.edges.map((edge, i) => {
    const source = shownFor(edge.source), target = shownFor(edge.target);
    if (source === target) return "";
    const id = "e" + source + ">" + target;
    if (!found.has(id)) {
      found.set(id, { id, source, target, edges: [] });
      if (source[0] === "v" && isLeaf(edge.source)) from.set(source, [...(from.get(source) || []), id]);
    }
    found.get(id).edges.push(i);
    return id;
  });
  copies = new Map();
  for (const [leaf, ids] of from) {
    if (ids.length <= COPIED) continue;
    copies.set(leaf, []);
    for (const id of ids) {
      const edge = found.get(id);
      edge.source = `c${numberOf(leaf)}:${edge.target}`;
      copies.get(leaf).push(edge.source);
    }
  }
  if (showSaved) {
    data.vertices.forEach((vertex, v) => {
      if (shownFor(v) !== "v" + v) return;
      savedOf(v).forEach((k) => {
        const source = `k${v}.${k}`;
        found.set("e" + source, { id: "e" + source, source, target: "v" + v, edges: [], saved: true });
      });
    });
  }
  return [...found.values()];
}

// The numbers of those kept things of a vertex that are tensors.
function savedOf(v) {
  const kept = data.vertices[v].kept || [];
  return kept.map((_, i) => i).filter((i) => kept[i].shape);
}

const bytes = (n) => {
  for (const unit of ["B", "KB", "MB"]) {
    if (n < 1000) return `${n < 10 && unit !== "B" ? n.toFixed(1) : Math.round(n)} ${unit}`;
    n /= 1000;
  }
  return n.toFixed(2) + " GB";
};
const short = (name) => name.replace(/Backward\d*$/, "");
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const some = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
