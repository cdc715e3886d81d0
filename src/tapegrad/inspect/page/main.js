"use strict";
// Putting it together: the drawing, the buttons, the keys, the search.

let hits = [], hit = -1;

// All that a vertex is found by; shapes also without spaces, and as 5x16.
function wordsOf(vertex) {
  const shape = vertex.shape.replaceAll(" ", "");
  const layers = [];
  for (let g = vertex.group; g !== TOP; g = data.groups[g].parent) layers.push(data.groups[g].name, data.groups[g].kind);
  const words = [vertex.name, vertex.shape, shape, shape.replace(/[()]/g, "").replaceAll(",", "x"), ...layers];
  return [...words, vertex.module, vertex.doc, vertex.code, vertex.place].filter(Boolean).join("\n").toLowerCase();
}

function search(word) {
  const wanted = word.trim().toLowerCase();
  hits = wanted ? data.vertices.map((v, i) => i).filter((i) => wordsOf(data.vertices[i]).includes(wanted)) : [];
  const named = (i) => data.vertices[i].name.toLowerCase().includes(wanted);
  hits.sort((a, b) => named(b) - named(a)); // what is called so comes first
  hit = -1;
  showHits();
  element("found").textContent = wanted ? `${hits.length} found` : "";
  if (wanted) element("panel").innerHTML = aboutHits(hits);
  else showPanel(selected);
}

function showHits() {
  cy.batch(() => {
    cy.nodes(".found").removeClass("found");
    new Set(hits.map(shownFor)).forEach((item) => drawnFor(item).addClass("found"));
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

// Unfold so many levels of layers.
function showLevels(n) {
  const most = members.get(TOP).length + OPEN_AT_MOST;
  openLevels(n, most);
  drawAnew();
  showLegend();
  showLevel();
  note(level < n ? `Some layers stay folded: all of it would be more than ${OPEN_AT_MOST.toLocaleString("en")} boxes.` : "");
}

function showLevel() {
  element("level").textContent = `${level} of ${deepest}`;
  element("less").disabled = !level;
  element("more").disabled = level === deepest;
}

function switched(id, on) {
  element(id).classList.toggle("on", on);
  element(id).setAttribute("aria-pressed", on);
}

function showSavedTensors() {
  showSaved = !showSaved;
  switched("saved", showSaved);
  drawAnew();
  showLegend();
}

function toggleColumns() {
  setInColumns = !setInColumns;
  switched("columns", setInColumns);
  drawAnew();
}

// The panel stands beside the drawing, or in a narrow window over its lower part.
function showAside(shown) {
  document.body.classList.toggle("alone", !shown);
  switched("aside", shown);
}

// Dark where the notebook around the page is, or else where the reader's system is.
function themeAround() {
  try {
    const around = window.parent.document.body.dataset;
    if (around.jpThemeLight) return around.jpThemeLight === "true" ? "light" : "dark";
    if (around.vscodeThemeKind) return around.vscodeThemeKind.includes("light") ? "light" : "dark";
  } catch (error) {
    if (!(error instanceof DOMException)) throw error; // the page around belongs to somebody else
  }
  return darkness.matches ? "dark" : "light";
}

function onTap(event) {
  const target = event.target;
  note("");
  if (target === cy) {
    select(null);
    if (narrow.matches) showAside(false);
  } else if (target.isEdge()) select(target.id());
  else if (target.hasClass("folded") || target.hasClass("caption")) toggle(numberOf(target.data("stands")));
  else select(target.data("stands"));
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.id === "time") return;
  const onButton = event.target.tagName === "BUTTON";
  const act = {
    "/": () => element("search").focus(), f: showAll, Escape: () => select(null),
    ArrowUp: () => walk(true), ArrowDown: () => walk(false),
    ...(selected && selected[0] === "g" && !onButton ? { Enter: () => toggle(numberOf(selected)) } : {}),
    ...(data.timed.length ? { ArrowRight: () => stepBy(1), ArrowLeft: () => stepBy(-1) } : {}),
    ...(data.timed.length && !onButton ? { " ": play } : {}),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function listen() {
  cy.on("tap", onTap);
  cy.on("dbltap", "node.open", (event) => toggle(numberOf(event.target.id())));
  element("panel").onclick = (event) => {
    const { vertex, edge, group, program, back, kind } = event.target.dataset;
    if (program !== undefined) openProgram(Number(program));
    if (back !== undefined) history.back();
    if (vertex !== undefined) goTo(Number(vertex));
    if (edge !== undefined) goToEdge(Number(edge));
    if (group !== undefined) toggle(Number(group));
    if (kind !== undefined) toggleKind(Number(kind));
    if (vertex || edge || group) {
      note("");
      showHits();
      element("panel").focus({ preventScroll: true }); // the button has gone with the page it was on
    }
  };
  element("fit").onclick = showAll;
  element("fold").onclick = () => showLevels(0);
  element("less").onclick = () => showLevels(level - 1);
  element("more").onclick = () => showLevels(level + 1);
  element("unfold").onclick = () => showLevels(deepest);
  element("columns").onclick = toggleColumns;
  element("png").onclick = savePng;
  element("svg").onclick = saveSvg;
  element("aside").onclick = () => showAside(document.body.classList.contains("alone"));
  element("saved").onclick = showSavedTensors;
  element("theme").onclick = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  element("search").oninput = () => search(element("search").value);
  element("search").onkeydown = (event) => {
    if (event.key === "Enter") nextHit(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") { element("search").value = ""; search(""); element("canvas").focus(); }
    event.stopPropagation();
  };
  document.addEventListener("keydown", onKey);
  darkness.addEventListener("change", () => setTheme(themeAround()));
}

function start() {
  element("title").textContent = element("title").title = data.title;
  const n = data.vertices.filter((v) => v.kind === "operator").length;
  element("counts").textContent = data.program ? data.program.summary : `${some(n, "operator")}, ${bytes(data.bytes)} kept`;
  element("saved").hidden = data.program !== null;
  element("levels").hidden = !data.groups.length;
  setTheme(themeAround());
  openLevels(deepest, SHOWN_AT_START);
  startStepping();
  showAside(!narrow.matches);
  element("keys").open = !narrow.matches;
  showLegend(); // before the drawing, which has what room it leaves
  cy = cytoscape({
    container: element("canvas"), layout: { name: "preset" }, style: styleOfAll(), minZoom: 0.02, maxZoom: 4,
    boxSelectionEnabled: false, autounselectify: true,
    textureOnViewport: data.vertices.length > 1500, hideEdgesOnViewport: false,
  });
  cy.one("render", () => { document.body.dataset.ready = String(Math.round(performance.now())); });
  while (chooseColumns() < DISCERNIBLE && level > 1 && !data.program) openLevels(level - 1, Infinity);
  draw();
  showLevel();
  if (level < deepest) note(`Some ${data.program ? "parts" : "layers"} are folded: click one to unfold it.`);
  listen();
  startMap();
  showLegend();
  showPanel(null);
}

start();
