"use strict";
// The backward pass, node by node.

let now = null; // how many nodes have run; null: the whole graph, no pass is looked at
let timer = null;
const element = (id) => document.getElementById(id);

function setTime(time, travel = false) {
  const before = now;
  now = time === null ? null : Math.min(Math.max(time, 0), data.timed.length);
  if ((before === null) !== (now === null)) showLegend();
  element("time").value = now ?? data.timed.length;
  markTime();
  if (travel) travelling();
  showNow();
}

function showNow() {
  if (now === null) element("now").textContent = `backward: ${data.timed.length} nodes`;
  else if (!now) element("now").textContent = "before the backward pass";
  else {
    const v = data.vertices[data.timed[now - 1]];
    element("now").textContent = `${now} of ${data.timed.length}: ${v.name || "leaf"} ${v.module}`;
  }
  element("now").title = element("now").textContent;
}

// Marks what has run; an item that stands for several has run when all of them have.
function markTime() {
  if (!cy) return;
  cy.batch(() => {
    cy.elements().removeClass("waiting passed running carrying");
    if (now === null) return;
    const ran = new Set(data.timed.slice(0, now));
    const state = new Map();
    data.vertices.forEach((vertex, v) => {
      if (vertex.time === null) return;
      const item = shownFor(v), all = state.get(item) || [0, 0];
      state.set(item, [all[0] + ran.has(v), all[1] + 1]);
    });
    cy.nodes(".plain").forEach((node) => {
      const [n, all] = state.get(node.data("stands")) || [0, 0];
      if (node.hasClass("result") || node.hasClass("saved")) return;
      node.toggleClass("waiting", !n);
      node.toggleClass("passed", n > 0 && n === all);
    });
    cy.edges().forEach((edge) => {
      if (edge.data("saved")) return;
      const inside = edge.data("edges") || [];
      const carried = inside.some((i) => ran.has(data.edges[i].target) || data.vertices[data.edges[i].target].kind === "result");
      edge.toggleClass("waiting", !carried);
    });
    if (!now) return;
    const current = data.timed[now - 1];
    drawnFor(shownFor(current)).addClass("running");
    carrying(current).addClass("carrying");
  });
}

function carrying(v) {
  return inputs[v].filter((i) => data.edges[i].flow && drawnAs[i])
    .reduce((all, i) => all.union(cy.getElementById(drawnAs[i])), cy.collection());
}

// A dot for each gradient that the node has just sent goes up to the node that it is for.
function travelling() {
  if (!now) return;
  carrying(data.timed[now - 1]).forEach((edge) => {
    const dot = cy.add({
      group: "nodes", classes: "travelling", position: { ...edge.target().position() },
      grabbable: false, data: { width: 14, height: 14, label: "" },
    });
    dot.animate({ position: edge.source().position() }, { duration: 420, complete: () => dot.remove() });
  });
}

function follow() {
  if (!now) return;
  cy.stop(true);
  select("v" + data.timed[now - 1]);
  lookAt(drawnFor(shownFor(data.timed[now - 1])));
}

function stepBy(n) {
  setTime((now === null ? (n > 0 ? 0 : data.timed.length) : now) + n, n > 0);
  follow();
}

function play() {
  if (timer) return stop();
  if (now === null || now === data.timed.length) setTime(0);
  element("play").textContent = "pause";
  const pause = Math.max(60, Math.min(650, 30000 / data.timed.length));
  timer = setInterval(() => {
    if (now >= data.timed.length) return stop();
    stepBy(1);
  }, pause);
}

function stop() {
  clearInterval(timer);
  timer = null;
  element("play").textContent = "play";
}

function startStepping() {
  element("steps").hidden = !data.timed.length;
  element("time").max = data.timed.length;
  element("first").onclick = () => { stop(); setTime(0); };
  element("last").onclick = () => { stop(); setTime(null); };
  element("back").onclick = () => { stop(); stepBy(-1); };
  element("next").onclick = () => { stop(); stepBy(1); };
  element("play").onclick = play;
  element("time").oninput = () => { stop(); setTime(Number(element("time").value)); follow(); };
  setTime(null);
}
