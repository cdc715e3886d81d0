"use strict";
// The drawing itself.

const darkness = window.matchMedia("(prefers-color-scheme: dark)");
const narrow = window.matchMedia("(max-width: 700px)");
const DISCERNIBLE = 0.55, LEGIBLE = 0.7, READABLE = 0.85; // zoom: letters of seven, nine and eleven pixels
const MANY = 300; // items; of more, fewer ways to set them in columns are tried
let cy = null;
let setInColumns = true;
let selected = null; // an item or the id of an edge

// What stands out on edges that are drawn as one: nan and exploding ones by themselves, the others
// where nothing else flows.
function stateOf(states) {
  const found = worst(new Set(states));
  return found === "nan" || found === "exploding" || !states.includes("") ? found : "";
}

// How a gradient is drawn: by its norm against that which the pass began with. Its words stand beside it.
function flowStyle(edge) {
  const flows = edge.edges.map((i) => data.edges[i]).filter((e) => e.flow);
  if (!flows.length) return { width: 1.4, colour: colour("flow"), state: "", words: "", aside: 0 };
  const state = stateOf(flows.map((e) => e.state));
  const norm = Math.hypot(...flows.map((e) => e.flow.norm));
  const size = norm ? Math.log10(norm / data.start) : -6;
  const width = Math.min(Math.max(2.2 + size * 0.35, 1), 5);
  const [{ flow }] = flows;
  const words = state === "nan" ? state : flows.length === 1 && flow.n === 1 && flow.values !== null
    ? nested(flow.values) : `norm ${number(norm)}`;
  const aside = canvasText.measureText(words).width / 2 + 8;
  if (state) return { width: state === "zero" ? 1.6 : 3.2, colour: colour(LINES[state]), state, words, aside };
  return { width, colour: colour("flow"), state, words, aside };
}

function kindOf(item) {
  if (item[0] === "k") return "saved plain";
  const i = numberOf(item);
  if (item[0] === "c") return data.vertices[i].kind + " copy plain";
  if (item[0] === "g") return open.has(i) ? "open" : `folded plain ${worst(troubles[i])}`;
  const { kind, part } = data.vertices[i];
  return `${kind} ${part ? part.kind : ""} plain`;
}

function nodeOf(item, at) {
  const [first, second] = labelOf(item), kind = kindOf(item);
  const mark = item[0] === "g" ? "▸ " : "";
  return {
    group: "nodes", classes: kind, position: { x: at.x, y: at.y }, grabbable: kind !== "open",
    data: {
      id: item, label: mark + (second ? `${first}\n${second}` : first), width: at.width, height: at.height,
      depth: around(item).length, stands: item[0] === "c" ? "v" + numberOf(item) : item,
    },
  };
}

function captionAt(item, at) {
  const { label, width } = captionOf(item);
  return {
    group: "nodes", classes: "caption", grabbable: false,
    position: { x: at.x - at.width / 2 + width / 2 + 5, y: at.y - at.height / 2 + 14 },
    data: { id: "t" + item, label, width, height: 20, stands: item },
  };
}

function elements() {
  const edges = drawnEdges();
  const { places, routes } = layoutAll(edges);
  const found = [];
  for (const [item, at] of places) {
    found.push(nodeOf(item, at));
    if (isOpen(item)) found.push(captionAt(item, at));
  }
  for (const edge of edges) {
    const route = segments(places.get(edge.source), places.get(edge.target), routes.get(edge.id) || []);
    const style = edge.saved ? { width: 1.4, colour: colour("saved-line"), state: "", words: "", aside: 0 } : flowStyle(edge);
    found.push({
      group: "edges",
      classes: [style.state, edge.saved ? "saved" : "", route.straight ? "" : "bent"].join(" "),
      data: { ...edge, ...style, ...(route.straight ? {} : { weights: route.weights, distances: route.distances }) },
    });
  }
  return found;
}

// What is drawn for an item: the item, or copies of it.
function drawnFor(item) {
  const node = cy.getElementById(item);
  return node.length ? node : (copies.get(item) || []).reduce((all, id) => all.union(cy.getElementById(id)), cy.collection());
}

// Draw anew; what is at the item `around_` stays where it is on the screen.
function draw(around_ = null) {
  const before = around_ && cy.getElementById(around_).length ? cy.getElementById(around_).renderedPosition() : null;
  cy.batch(() => {
    cy.elements().remove();
    cy.add(elements());
  });
  const kept = around_ && cy.getElementById(around_);
  if (before && kept.length) {
    const now = kept.renderedPosition();
    cy.panBy({ x: before.x - now.x, y: before.y - now.y });
  } else {
    firstLook();
  }
  markSelected();
  markTime();
  document.body.dataset.shown = cy.nodes(".plain").length;
  drawMap();
}

// One column where that can be read, else as many as make the drawing largest. What is on the
// screen decides, so that it is asked for anew where all of it is to be seen.
function chooseColumns() {
  const edges = drawnEdges();
  const zoom = (found) => Math.min(cy.width() / (found.width + 48), cy.height() / (found.height + 48));
  tallest = Infinity;
  const found = layoutAll(edges);
  let largest = zoom(found), chosen = Infinity;
  if (!setInColumns || largest >= LEGIBLE) return largest;
  const even = Math.min(Math.sqrt((cy.width() * cy.height()) / (found.width * found.height)), 1.3);
  for (const share of found.places.size > MANY ? [0.7] : [1, 0.85, 0.7, 0.55, 0.4]) {
    tallest = cy.height() / (even * share);
    const now = zoom(layoutAll(edges));
    if (now > largest * 1.05) [largest, chosen] = [now, tallest];
  }
  tallest = chosen;
  return largest;
}

function drawAnew() {
  chooseColumns();
  draw();
}

function showAll() {
  const before = tallest;
  chooseColumns();
  if (tallest !== before) draw();
  fit();
}

function fit() {
  cy.stop();
  cy.fit(undefined, 24);
  if (cy.zoom() > 1.3) {
    cy.zoom(1.3);
    cy.center();
  }
}

// The first look: all of it where that can be read, else its beginning.
function firstLook() {
  fit();
  if (cy.zoom() >= DISCERNIBLE) return;
  const box = cy.elements().boundingBox();
  const first = cy.nodes(".plain").min((node) => node.position().y).ele;
  const middle = box.w * READABLE < cy.width() ? (box.x1 + box.x2) / 2
    : tallest < Infinity ? box.x1 + cy.width() / READABLE / 2 - 16 : first.position().x;
  cy.zoom(READABLE);
  cy.pan({ x: cy.width() / 2 - middle * READABLE, y: 16 - box.y1 * READABLE });
}

function markSelected() {
  cy.elements(".chosen").removeClass("chosen");
  if (selected) drawnFor(selected).addClass("chosen");
}

function select(item) {
  selected = item;
  markSelected();
  showPanel(item);
  if (item && narrow.matches) showAside(true);
}

// Bring what is chosen into the window, if it is not there.
function lookAt(elements) {
  if (!elements.length) return;
  const box = cy.extent(), at = elements[0].isNode() ? elements[0].position() : elements[0].midpoint();
  const inside = at.x > box.x1 && at.x < box.x2 && at.y > box.y1 && at.y < box.y2;
  if (inside && cy.zoom() >= READABLE / 2) return;
  cy.animate({ center: { eles: elements[0] }, zoom: Math.max(cy.zoom(), READABLE) }, { duration: 200 });
}

// Go to a vertex, wherever it is.
function goTo(vertex) {
  if (reveal(vertex)) draw();
  select("v" + vertex);
  lookAt(drawnFor("v" + vertex));
}

function goToEdge(i) {
  if ([reveal(data.edges[i].source), reveal(data.edges[i].target)].includes(true)) draw();
  select(drawnAs[i]);
  lookAt(cy.getElementById(drawnAs[i]));
}

// Along the graph: up to what the chosen item is computed from, down to what is computed from it.
function walk(up) {
  const here = selected ? drawnFor(selected) : cy.collection();
  if (!here.length) return select(cy.nodes(up ? ".result" : ".plain")[0].data("stands"));
  const from = here[0].isEdge() ? (up ? here.sources() : here.targets()) : up ? here.incomers("node") : here.outgoers("node");
  const next = from.filter((node) => !node.hasClass("saved"));
  if (!next.length) return;
  // Rather to what flows through than to a leaf.
  const chosen = next.filter((node) => !node.hasClass("parameter") && !node.hasClass("leaf"));
  select((chosen.length ? chosen : next)[0].data("stands"));
  lookAt(drawnFor(selected));
}

function toggle(g) {
  const item = "g" + g;
  if (!open.delete(g)) open.add(g);
  draw(item);
  select(item);
}

// Fold or unfold all layers of the same class.
function toggleKind(g) {
  const fold = open.has(g);
  for (const each of alike(g)) fold ? open.delete(each) : revealGroup(each);
  draw("g" + g);
  select("g" + g);
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  if (!cy) return;
  cy.style(styleOfAll());
  cy.edges().forEach((edge) => {
    edge.data(edge.data("saved") ? { colour: colour("saved-line") } : flowStyle(edge.data()));
  });
  drawMap();
  showLegend();
}

function showLegend() {
  const names = { operator: "operator", parameter: "parameter", leaf: "other leaf", result: "result" };
  if (data.program) Object.assign(names, { leaf: "other input", operator: "" }, PARTS);
  const kinds = Object.keys(names).filter((kind) => names[kind] && data.vertices.some((v) => v.kind === kind || (v.part && v.part.kind === kind)));
  if (showSaved) kinds.push("saved");
  const box = (fill, edge, style = "solid") => `<i style="background:var(--${fill});border-color:var(--${edge});border-style:${style}"></i>`;
  const line = (name, style = "solid") => `<b style="color:var(--${name});border-top-style:${style}"></b>`;
  const words = kinds.map((kind) => box(kind, kind + "-line") + (names[kind] || "saved tensor"));
  if (copies.size) words.push(box("paper", "dim", "dashed") + (data.program ? "the same input again" : "the same leaf again"));
  if (data.groups.length) words.push(box("group", "group-line", "double") + (data.program ? "folded" : "folded layer"));
  if (data.timed.length) {
    words.push(line("flow") + "gradient, the thicker the larger");
    const states = { nan: "nan", exploding: "exploding", vanishing: "vanishing", zero: "zero" };
    const styles = { vanishing: "dashed", zero: "dotted" };
    for (const state of STATES) {
      if (data.edges.some((e) => e.state === state)) words.push(line(LINES[state], styles[state]) + states[state]);
    }
    if (now !== null) words.push(box("paper", "run") + "has run", line("run") + "sends its gradient");
  }
  document.getElementById("legend").innerHTML = words.map((each) => `<span>${each}</span>`).join("");
}
