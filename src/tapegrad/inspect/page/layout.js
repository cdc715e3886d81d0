"use strict";
// Where everything stands. Each open group is laid out by dagre on its own and is then one box in
// the group around it: the time grows with the number of items, and boxes never overlap. Groups of
// the same form, as the blocks of a transformer are, are laid out once.
//
// Leaves, and what is computed from a single leaf, stand on both sides above the item that uses
// them (sides.js); dagre has all of that as one node. So what flows through stays in the middle.
//
// An edge that comes into a group from outside passes a port at its upper side, one that leaves it
// a port at its lower side, so that it finds its way around what is inside.

const layouts = new Map(); // by form
const ports = new Map(); // by group and port: where an edge passes the border of an open group
const canvasText = document.createElement("canvas").getContext("2d");
const FONT = 13;
canvasText.font = `${FONT}px system-ui, sans-serif`;
const TITLE = 30, MARGIN = 14, TRIMMED = 12; // of the box of an open group

const isOpen = (item) => item[0] === "g" && open.has(numberOf(item));
const isPort = (item) => item[0] === "i" || item[0] === "o";

function labelOf(item) {
  const i = numberOf(item);
  if (item[0] === "g") {
    const group = data.groups[i], inside = within[i].map((v) => data.vertices[v]);
    const n = inside.filter((v) => v.kind === "operator").length;
    const kind = group.kind && group.kind !== group.label ? ` ${group.kind}` : "";
    const trouble = worst(troubles[i]);
    if (data.program) return [group.label + kind, summaryOf(inside)];
    return [group.label + kind, some(n, "operator") + (trouble ? `, ${trouble}` : "")];
  }
  if (item[0] === "k") {
    const kept = data.vertices[i].kept[item.split(".")[1]];
    return [kept.name, kept.shape];
  }
  const vertex = data.vertices[i];
  if (vertex.kind === "operator") return [short(vertex.name), vertex.shape];
  return [nameWithin(vertex.name, item) || "leaf", vertex.shape];
}

// The name of a parameter less that of the innermost layer around it that it begins with.
function nameWithin(name, item) {
  for (const g of around(item)) {
    const layer = g === TOP ? "" : data.groups[g].name + ".";
    if (name.startsWith(layer)) return name.slice(layer.length);
  }
}

function sizeOf(item) {
  const [first, second] = labelOf(item);
  const width = Math.max(...[first, second].map((each) => canvasText.measureText(each).width));
  const mark = item[0] === "g" ? 14 : 0; // the triangle before its name
  return { width: Math.min(Math.max(width + mark + 20, 60), 280), height: second ? 40 : 26 };
}

// The bar at the upper left of an open group, with its name.
function captionOf(item) {
  return { label: `▾ ${labelOf(item)[0]}`, width: canvasText.measureText(`▾ ${labelOf(item)[0]}`).width + 10 };
}

// Positions of all items and the points that edges go through.
function layoutAll(edges) {
  const levels = new Map(); // by group: the pieces of edges in it
  const pieces = new Map(); // by edge: its pieces, from its source to its target
  for (const edge of edges) {
    const found = piecesOf(edge);
    pieces.set(edge.id, found);
    for (const piece of found) {
      if (!levels.has(piece.group)) levels.set(piece.group, []);
      levels.get(piece.group).push(piece);
    }
  }
  const boxes = new Map(), places = new Map();
  const all = layoutGroup(TOP, levels, boxes);
  place(TOP, all, 0, 0, levels, boxes, places);
  const routes = new Map();
  for (const [id, found] of pieces) routes.set(id, found.flatMap((piece) => piece.points));
  return { places, routes, width: all.width, height: all.height };
}

// An edge in pieces: in the groups around its source, in the one around both, down to its target.
function piecesOf(edge) {
  const a = around(edge.source).reverse(), b = around(edge.target).reverse();
  let same = 0;
  while (same + 1 < a.length && same + 1 < b.length && a[same + 1] === b[same + 1]) same++;
  const found = [];
  for (let i = a.length - 1; i > same; i--) {
    const from = i === a.length - 1 ? edge.source : "g" + a[i + 1];
    found.push({ edge, group: a[i], from, to: "o" + edge.source });
  }
  const from = same + 1 < a.length ? "g" + a[same + 1] : edge.source;
  const to = same + 1 < b.length ? "g" + b[same + 1] : edge.target;
  found.push({ edge, group: a[same], from, to });
  for (let i = same + 1; i < b.length; i++) {
    const inner = i === b.length - 1 ? edge.target : "g" + b[i + 1];
    found.push({ edge, group: b[i], from: "i" + edge.source, to: inner });
  }
  return found;
}

function itemsOf(g, level) {
  const found = members.get(g).filter((item) => !copies.has(item));
  for (const each of copies.values()) found.push(...each.filter((item) => parentOf(item) === g));
  if (showSaved) {
    for (const item of members.get(g)) {
      if (item[0] !== "v") continue;
      for (const k of savedOf(numberOf(item))) found.push(`k${numberOf(item)}.${k}`);
    }
  }
  const ports = new Set();
  for (const piece of level) for (const end of [piece.from, piece.to]) if (isPort(end)) ports.add(end);
  return [...found, ...ports];
}

// Sizes the members of a group, then lays it out; the result goes to `boxes`.
function layoutGroup(g, levels, boxes) {
  const level = levels.get(g) || [];
  const items = itemsOf(g, level);
  const sizes = items.map((item) => {
    if (isPort(item)) return { width: 1, height: 1, port: item[0] };
    if (!isOpen(item)) return sizeOf(item);
    const inner = layoutGroup(numberOf(item), levels, boxes);
    const title = captionOf(item).width + 16;
    const below = inner.items.some((each) => each[0] === "o") ? 0 : MARGIN; // ports are on the border
    return { width: Math.max(inner.width + 2 * MARGIN, title), height: inner.height + TITLE + below };
  });
  const number = new Map(items.map((item, i) => [item, i]));
  const edges = level.map((piece) => [number.get(piece.from), number.get(piece.to)]);
  const sides = sidesOf(items, edges);
  const box = { ...inBlocks(sizes, edges, sides), items };
  boxes.set(g, box);
  return box;
}

function dagreLayout(sizes, edges) {
  const form = JSON.stringify([sizes.map((s) => [Math.round(s.width), s.height, s.port]), edges]);
  if (!layouts.has(form)) layouts.set(form, laidOut(sizes, edges));
  return layouts.get(form);
}

function laidOut(sizes, edges) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 26, edgesep: 12, ranker: (g) => rank(g, sizes) });
  sizes.forEach((size, i) => graph.setNode(String(i), { width: size.width, height: size.height }));
  const seen = new Set();
  edges.forEach(([a, b]) => {
    if (!seen.has(`${a}>${b}`)) graph.setEdge(String(a), String(b), {}, "e");
    seen.add(`${a}>${b}`);
  });
  dagre.layout(graph);
  const between = edges.map(([a, b]) => graph.edge({ v: String(a), w: String(b), name: "e" }).points.slice(1, -1));
  const nodes = sizes.map((_, i) => graph.node(String(i)));
  const has = (port) => sizes.some((size) => size.port === port);
  const above = has("i") ? TRIMMED : 0; // ports are rows of their own, which need less room
  const height = sizes.length ? graph.graph().height - above - (has("o") ? TRIMMED : 0) : 0;
  // Long edges pass beside the nodes, where dagre does not count them.
  const bends = between.flat().map((p) => p.x);
  const left = Math.min(...nodes.map((n) => n.x - n.width / 2), ...bends);
  const right = Math.max(...nodes.map((n) => n.x + n.width / 2), ...bends);
  return {
    at: nodes.map(({ x, y }, i) => {
      const { port } = sizes[i]; // ports are on the border
      return { ...sizes[i], x: x - left, y: port === "i" ? 0 : port === "o" ? height : y - above };
    }),
    points: between.map((points) => points.map(({ x, y }) => ({ x: x - left, y: Math.max(y - above, 0) }))),
    width: sizes.length ? right - left : 0,
    height,
  };
}

// The layer of each node: as high as its inputs allow; what is computed from leaves alone, for a
// single user, right above that; ports at the upper and the lower end. (dagre's own ranker would
// draw ports inwards.)
function rank(graph, sizes) {
  const root = graph.graph().nestingRoot;
  const nodes = graph.nodes().filter((v) => v !== root);
  const into = (v) => (graph.inEdges(v) || []).filter((e) => e.v !== root);
  const waiting = new Map(nodes.map((v) => [v, into(v).length]));
  const ready = nodes.filter((v) => !waiting.get(v));
  const port = (v) => (sizes[v] ? sizes[v].port : undefined);
  const below = nodes.some((v) => port(v) === "i") ? 2 : 0; // the row of the ports
  const at = new Map(ready.map((v) => [v, port(v) === "i" ? 0 : below]));
  for (let i = 0; i < ready.length; i++) {
    for (const e of graph.outEdges(ready[i])) {
      at.set(e.w, Math.max(at.get(e.w) || 0, at.get(ready[i]) + graph.edge(e).minlen));
      waiting.set(e.w, waiting.get(e.w) - 1);
      if (!waiting.get(e.w)) ready.push(e.w);
    }
  }
  const deepest = Math.max(0, ...at.values());
  const last = nodes.some((v) => at.get(v) === deepest && port(v) !== "o") ? deepest + 2 : deepest;
  const free = new Set();
  for (const v of ready) {
    const alone = into(v).every((e) => free.has(e.v) && graph.outEdges(e.v).length === 1);
    if (alone && port(v) !== "i") free.add(v);
  }
  for (const v of [...ready].reverse()) {
    if (port(v) === "o") at.set(v, last);
    const out = graph.outEdges(v);
    if (!free.has(v) || !out.length) continue;
    at.set(v, Math.min(...out.map((e) => at.get(e.w) - graph.edge(e).minlen)));
  }
  for (const v of nodes) graph.node(v).rank = at.get(v);
  if (root !== undefined) graph.node(root).rank = -1;
}

function place(g, box, x, y, levels, boxes, places) {
  const at = new Map();
  box.items.forEach((item, i) => {
    const { x: dx, y: dy, width, height } = box.at[i];
    const here = { x: x + dx, y: y + dy, width, height };
    at.set(item, here);
    if (isPort(item)) return void ports.set(g + item, here);
    places.set(item, here);
    if (!isOpen(item)) return;
    const inner = boxes.get(numberOf(item));
    place(numberOf(item), inner, here.x - inner.width / 2, here.y - height / 2 + TITLE, levels, boxes, places);
  });
  (levels.get(g) || []).forEach((piece, i) => {
    let points = box.points[i].map((p) => ({ ...p, x: x + p.x, y: y + p.y }));
    // Into another column an edge leaves or enters an open group where it passes its border.
    const straight = (along, group, port) => {
      const n = along.findIndex((p) => p.turn) + 1;
      if (isOpen(group) && n && n < 3) along.slice(0, n).forEach((p) => { p.x = ports.get(numberOf(group) + port).x; });
    };
    straight(points, piece.from, "o" + piece.edge.source);
    straight([...points].reverse(), piece.to, "i" + piece.edge.source);
    // From the lower side of a box right to the next row: no bend on the way.
    if (points.length === 1 && (isOpen(piece.from) || isOpen(piece.to))) points = [];
    if (isPort(piece.from)) points.unshift(at.get(piece.from));
    if (isPort(piece.to)) points.push(at.get(piece.to));
    piece.points = points;
  });
}

// The points of a route as cytoscape wants them: relative to the line between the two ends.
function segments(from, to, points) {
  const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy) || 1;
  const weights = [], distances = [];
  for (const p of points) {
    weights.push(((p.x - from.x) * dx + (p.y - from.y) * dy) / (length * length));
    distances.push(((p.x - from.x) * -dy + (p.y - from.y) * dx) / length);
  }
  return { weights, distances, straight: distances.every((d) => Math.abs(d) < 2) };
}
