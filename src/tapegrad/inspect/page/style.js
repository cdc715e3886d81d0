"use strict";
// How things look, in the words of cytoscape; colours are those of page.css.

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const LINES = { nan: "bad", exploding: "big", vanishing: "small", zero: "zero" }; // by state: its colour

const fontOf = () => ({ "font-family": "system-ui, sans-serif", "font-size": FONT, color: colour("ink") });
const styleOfAll = () => [...styleOfNodes(), ...styleOfEdges(), ...styleOfMarks()];

function styleOfNodes() {
  const node = (kind) => ({
    selector: "node." + kind,
    style: { "background-color": colour(kind), "border-color": colour(kind + "-line") },
  });
  const trouble = (state) => ({
    selector: "node.folded." + state, style: { "border-color": colour(LINES[state]) },
  });
  return [
    { selector: "node", style: {
      ...fontOf(), shape: "round-rectangle", width: "data(width)", height: "data(height)",
      label: "data(label)", "text-wrap": "wrap", "text-valign": "center", "text-halign": "center",
      "line-height": 1.2, "border-width": 1.2, "border-color": colour("operator-line"),
      "text-max-width": "data(width)", "min-zoomed-font-size": 5,
    } },
    ...["operator", "parameter", "leaf", "result", "saved", ...Object.keys(PARTS)].map(node),
    { selector: "node.result", style: { "border-width": 2.5 } },
    { selector: "node.copy", style: { "border-style": "dashed" } },
    { selector: "node.saved", style: { "font-size": FONT - 1, shape: "cut-rectangle" } },
    { selector: "node.folded", style: {
      "background-color": colour("group"), "border-style": "double", "border-width": 5,
      "border-color": colour("group-line"),
    } },
    ...STATES.map(trouble),
    { selector: "node.open", style: {
      label: "", "background-color": colour("group"), "background-opacity": 0.6,
      "border-color": colour("group-line"), "border-width": 1, "z-index-compare": "manual",
      "z-index": "data(depth)",
    } },
    { selector: "node.plain, edge", style: { "z-index-compare": "manual", "z-index": 1000 } },
    { selector: "node.caption", style: {
      "font-size": FONT, color: colour("dim"), "background-color": colour("group"), "border-width": 0,
      shape: "rectangle", "z-index-compare": "manual", "z-index": 1100,
    } },
  ];
}

function styleOfEdges() {
  return [
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
    { selector: "edge.vanishing", style: { "line-style": "dashed" } },
    { selector: "edge.zero", style: { "line-style": "dotted" } },
    { selector: "edge.nan, edge.exploding, edge.carrying, edge.chosen", style: {
      label: "data(state)", ...fontOf(), "font-size": FONT - 1, color: "data(colour)",
      "text-background-color": colour("paper"), "text-background-opacity": 0.85,
      "text-background-padding": 2, "text-margin-x": "data(aside)",
    } },
    { selector: "edge.carrying, edge.chosen", style: { label: "data(words)" } },
  ];
}

// What was found, what is chosen, and how far the backward pass has come.
function styleOfMarks() {
  return [
    { selector: "node.found", style: {
      "underlay-color": colour("hit"), "underlay-opacity": 0.45, "underlay-padding": 6,
    } },
    { selector: ".waiting", style: { opacity: 0.35 } },
    { selector: "node.passed", style: { "border-color": colour("run"), "border-width": 2 } },
    { selector: "edge.carrying", style: {
      "source-arrow-shape": "triangle", "target-arrow-shape": "none", opacity: 1, "line-style": "solid",
      "line-color": colour("run"), "source-arrow-color": colour("run"), color: colour("run"), width: 4,
    } },
    { selector: "node.travelling", style: {
      width: 14, height: 14, shape: "ellipse", label: "", "background-color": colour("run"),
      "border-width": 0, "z-index-compare": "manual", "z-index": 2000, events: "no",
    } },
    { selector: "node.running", style: { "border-color": colour("run"), "border-width": 4.5 } },
    { selector: "node.chosen", style: {
      "border-color": colour("mark"), "underlay-color": colour("mark"), "underlay-opacity": 0.3,
      "underlay-padding": 5,
    } },
    { selector: "node.running.chosen", style: { "border-color": colour("run") } },
    { selector: "node.open.chosen", style: { "underlay-opacity": 0, "border-width": 3 } },
    { selector: "edge.chosen", style: {
      "underlay-color": colour("mark"), "underlay-opacity": 0.35, "underlay-padding": 5,
    } },
  ];
}
