"use strict";
// The drawing itself.

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const darkness = window.matchMedia("(prefers-color-scheme: dark)");
const READABLE = 0.5; // zoom
let cy = null;
let selected = null; // an item or the id of an edge

function styleOfAll() {
  const font = { "font-family": "system-ui, sans-serif", "font-size": 12, color: colour("ink") };
  const node = (kind) => ({
    selector: "node." + kind,
    style: { "background-color": colour(kind) },
  });
  return [
    { selector: "node", style: {
      ...font, shape: "round-rectangle", width: "data(width)", height: "data(height)",
      label: "data(label)", "text-wrap": "wrap", "text-valign": "center", "text-halign": "center",
      "line-height": 1.2, "border-width": 1, "border-color": colour("line"),
      "text-max-width": "data(width)", "min-zoomed-font-size": 5,
    } },
    ...["operator", "parameter", "leaf", "result", "saved"].map(node),
    { selector: "node.saved", style: { "font-size": 11, shape: "rectangle" } },
    { selector: "node.folded", style: {
      "background-color": colour("panel"), "border-style": "double", "border-width": 4,
    } },
    { selector: "node.open", style: {
      "background-color": colour("panel"), "background-opacity": 0.55, "text-valign": "top",
      "text-halign": "center", "text-margin-y": 20, color: colour("dim"), "z-index-compare": "manual",
      "z-index": "data(depth)", "border-style": "solid", "border-width": 1,
    } },
    { selector: "node.plain, edge", style: { "z-index-compare": "manual", "z-index": 1000 } },
    { selector: "edge", style: {
      width: "data(width)", "line-color": "data(colour)", "target-arrow-color": "data(colour)",
      "target-arrow-shape": "triangle", "arrow-scale": 0.8, "curve-style": "straight",
      "min-zoomed-font-size": 6,
    } },
    { selector: "edge.bent", style: {
      "curve-style": "round-segments", "segment-weights": "data(weights)",
      "segment-distances": "data(distances)", "segment-radii": 14, "edge-distances": "node-position",
    } },
    { selector: "edge.saved", style: { "line-style": "dotted", "target-arrow-shape": "none" } },
    { selector: "edge.vanishing, edge.zero", style: { "line-style": "dashed" } },
    { selector: "edge.nan, edge.exploding", style: {
      label: "data(state)", ...font, "font-size": 11, color: "data(colour)",
      "text-background-color": colour("paper"), "text-background-opacity": 1,
      "text-background-padding": 2,
    } },
    { selector: "node.found", style: { "border-color": colour("mark"), "border-width": 2 } },
    { selector: ".waiting", style: { opacity: 0.3 } },
    { selector: "node.passed", style: { "border-color": colour("bar"), "border-width": 2 } },
    { selector: "edge.carrying", style: {
      "source-arrow-shape": "triangle", "target-arrow-shape": "none", opacity: 1,
      "line-color": colour("big"), "source-arrow-color": colour("big"), width: 4,
    } },
    { selector: "node.travelling", style: {
      width: 14, height: 14, shape: "ellipse", label: "", "background-color": colour("big"),
      "border-width": 0, "z-index-compare": "manual", "z-index": 2000, events: "no",
    } },
    { selector: "node:selected, node.chosen", style: { "border-color": colour("mark"), "border-width": 3 } },
    { selector: "node.running", style: { "border-color": colour("big"), "border-width": 4 } },
    { selector: "edge:selected, edge.chosen", style: {
      "line-color": colour("mark"), "target-arrow-color": colour("mark"), "source-arrow-color": colour("mark"),
    } },
  ];
}

// How a gradient is drawn: by its norm against that which the pass began with.
function flowStyle(edge) {
  const flows = edge.edges.map((i) => data.edges[i]).filter((e) => e.flow);
  if (!flows.length) return { width: 1.4, colour: colour("zero"), state: "" };
  const state = ["nan", "exploding", "vanishing", "zero"].find((s) => flows.some((e) => e.state === s)) || "";
  const norm = Math.hypot(...flows.map((e) => e.flow.norm));
  const size = norm ? Math.log10(norm / data.start) : -6;
  const width = Math.min(Math.max(2.2 + size * 0.35, 1), 5);
  const by = { nan: "bad", exploding: "big", vanishing: "small", zero: "zero" };
  if (state) return { width: state === "zero" ? 1.4 : 3.2, colour: colour(by[state]), state };
  return { width, colour: colour("bar"), state };
}

function kindOf(item) {
  if (item[0] === "k") return "saved plain";
  const i = parseInt(item.slice(1), 10);
  if (item[0] === "g") return open.has(i) ? "open" : "folded plain";
  return data.vertices[i].kind + " plain";
}

function elements() {
  const edges = drawnEdges();
  const { places, routes } = layoutAll(edges);
  const found = [];
  for (const [item, at] of places) {
    const [first, second] = labelOf(item), kind = kindOf(item);
    const label = kind === "open" ? first : second ? `${first}\n${second}` : first;
    found.push({
      group: "nodes", classes: kind, position: { x: at.x, y: at.y }, grabbable: kind !== "open",
      data: { id: item, label, width: at.width, height: at.height, depth: around(item).length },
    });
  }
  for (const edge of edges) {
    const route = segments(places.get(edge.source), places.get(edge.target), routes.get(edge.id) || []);
    const style = edge.saved ? { width: 1.4, colour: colour("keep"), state: "" } : flowStyle(edge);
    found.push({
      group: "edges", selectable: true,
      classes: [style.state, edge.saved ? "saved" : "", route.straight ? "" : "bent"].join(" "),
      data: { ...edge, ...style, ...(route.straight ? {} : { weights: route.weights, distances: route.distances }) },
    });
  }
  return found;
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
  document.body.dataset.shown = cy.nodes().length;
}

function fit() {
  cy.stop();
  cy.fit(undefined, 24);
  if (cy.zoom() > 1.3) {
    cy.zoom(1.3);
    cy.center();
  }
}

// The first look: all of it where that can be read, else the top of it.
function firstLook() {
  fit();
  if (cy.zoom() >= READABLE) return;
  const box = cy.elements().boundingBox();
  cy.zoom(READABLE);
  cy.pan({ x: cy.width() / 2 - ((box.x1 + box.x2) / 2) * READABLE, y: 40 - box.y1 * READABLE });
}

function markSelected() {
  cy.elements(".chosen").removeClass("chosen");
  if (selected) cy.getElementById(selected).addClass("chosen");
}

function select(item) {
  selected = item;
  markSelected();
  showPanel(item);
}

// Go to a vertex, wherever it is.
function goTo(vertex) {
  if (reveal(vertex)) draw();
  const node = cy.getElementById("v" + vertex);
  select("v" + vertex);
  cy.animate({ center: { eles: node }, zoom: Math.max(cy.zoom(), 0.8) }, { duration: 200 });
}

function toggle(g) {
  const item = "g" + g;
  if (!open.delete(g)) open.add(g);
  draw(item);
  select(item);
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  if (cy) {
    cy.style(styleOfAll());
    cy.edges().forEach((edge) => {
      edge.data(edge.data("saved") ? { colour: colour("keep") } : flowStyle(edge.data()));
    });
  }
  if (cy) showLegend();
}

function showLegend() {
  const kinds = [["operator", "operator"], ["parameter", "parameter"], ["leaf", "leaf"], ["result", "result"]];
  if (showSaved) kinds.push(["saved", "saved tensor"]);
  const words = kinds
    .filter(([kind]) => kind === "saved" || data.vertices.some((v) => v.kind === kind))
    .map(([kind, name]) => `<span><i style="background:var(--${kind})"></i>${name}</span>`);
  const states = { nan: "nan", exploding: "exploding", vanishing: "vanishing", zero: "zero gradient" };
  const lines = { nan: "bad", exploding: "big", vanishing: "small", zero: "zero" };
  for (const [state, name] of Object.entries(states)) {
    if (!data.edges.some((e) => e.state === state)) continue;
    words.push(`<span><b style="color:var(--${lines[state]})"></b>${name}</span>`);
  }
  document.getElementById("legend").innerHTML = words.join("");
}
