"use strict";
// Putting it together: the drawing, the buttons, the keys, the search.

let hits = [], hit = -1;

function wordsOf(vertex) {
  return [vertex.name, vertex.shape, vertex.module, vertex.doc, vertex.code, vertex.place]
    .filter(Boolean).join("\n").toLowerCase();
}

function search(word) {
  const wanted = word.trim().toLowerCase();
  hits = wanted ? data.vertices.map((v, i) => i).filter((i) => wordsOf(data.vertices[i]).includes(wanted)) : [];
  const named = (i) => data.vertices[i].name.toLowerCase().includes(wanted);
  hits.sort((a, b) => named(b) - named(a)); // what is called so comes first
  hit = -1;
  showHits();
  element("found").textContent = wanted ? `${hits.length} found` : "";
}

function showHits() {
  cy.batch(() => {
    cy.nodes(".found").removeClass("found");
    new Set(hits.map(shownFor)).forEach((item) => cy.getElementById(item).addClass("found"));
  });
}

function nextHit(by) {
  if (!hits.length) return;
  hit = (hit + by + hits.length) % hits.length;
  goTo(hits[hit]);
  showHits();
  element("found").textContent = `${hit + 1} of ${hits.length}`;
}

function note(words) {
  element("note").textContent = words;
}

function unfoldAll() {
  const all = openUpTo(OPEN_AT_MOST);
  draw();
  note(all ? "" : `The outer layers are unfolded: all of it would be more than ${OPEN_AT_MOST.toLocaleString("en")} boxes.`);
}

function start() {
  element("title").textContent = data.title;
  const n = data.vertices.filter((v) => v.kind === "operator").length;
  element("counts").textContent = `${n.toLocaleString("en")} operators, ${bytes(data.bytes)} kept`;
  setTheme(data.theme || (darkness.matches ? "dark" : "light"));
  const all = openUpTo(SHOWN_AT_START);
  if (!all) openUpTo(OUTLINES);
  if (!all) note("Some layers are folded: click one to unfold it.");
  cy = cytoscape({
    container: element("canvas"), layout: { name: "preset" }, style: styleOfAll(), minZoom: 0.02, maxZoom: 4,
    boxSelectionEnabled: false, autounselectify: true,
    textureOnViewport: data.vertices.length > 1500, hideEdgesOnViewport: false,
  });
  draw();
  cy.on("tap", "node", (event) => {
    const id = event.target.id();
    note("");
    if (event.target.hasClass("folded")) toggle(parseInt(id.slice(1), 10));
    else select(id);
  });
  cy.on("tap", "edge", (event) => select(event.target.id()));
  cy.on("dbltap", "node.open", (event) => toggle(parseInt(event.target.id().slice(1), 10)));
  cy.on("tap", (event) => { if (event.target === cy) select(null); });
  element("panel").onclick = (event) => {
    note("");
    const { vertex, group } = event.target.dataset;
    if (vertex !== undefined) goTo(Number(vertex));
    if (group !== undefined) toggle(Number(group));
  };
  element("fit").onclick = fit;
  element("fold").onclick = () => { open.clear(); note(""); draw(); };
  element("unfold").onclick = unfoldAll;
  element("saved").onclick = () => {
    showSaved = !showSaved;
    element("saved").classList.toggle("on", showSaved);
    draw();
    showLegend();
  };
  element("theme").onclick = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  element("search").oninput = () => search(element("search").value);
  element("search").onkeydown = (event) => {
    if (event.key === "Enter") nextHit(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") { element("search").value = ""; search(""); element("search").blur(); }
    event.stopPropagation();
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.id === "time") return;
    const act = {
      "/": () => element("search").focus(), f: fit, Escape: () => select(null),
      ...(data.timed.length ? { ArrowRight: () => stepBy(1), ArrowLeft: () => stepBy(-1), " ": play } : {}),
    }[event.key];
    if (!act || event.target.tagName === "BUTTON" && event.key === " ") return;
    event.preventDefault();
    act();
  });
  darkness.addEventListener("change", () => setTheme(darkness.matches ? "dark" : "light"));
  startStepping();
  showLegend();
  showPanel(null);
  document.body.dataset.ready = String(Math.round(performance.now()));
}

start();
