"use strict";
// All of the drawing in small, where the window shows a part of it: a click or a drag goes there.

let mapPicture = null; // the small drawing, without the frame around what the window shows
let mapScale = { x: 0, y: 0, k: 1 };

// Draw the boxes anew; the frame moves more often than they do.
function drawMap() {
  if (!cy) return;
  const map = element("map"), box = cy.elements().boundingBox(), ratio = window.devicePixelRatio;
  const [width, height] = narrow.matches ? [110, 90] : [170, 120];
  const k = Math.min((width - 8) / box.w, (height - 8) / box.h);
  mapScale = { k, x: width / 2 - ((box.x1 + box.x2) / 2) * k, y: height / 2 - ((box.y1 + box.y2) / 2) * k };
  map.width = width * ratio;
  map.height = height * ratio;
  mapPicture = document.createElement("canvas");
  mapPicture.width = map.width;
  mapPicture.height = map.height;
  const pen = mapPicture.getContext("2d");
  pen.setTransform(k * ratio, 0, 0, k * ratio, mapScale.x * ratio, mapScale.y * ratio);
  cy.nodes(".open, .plain").forEach((node) => {
    const { x, y } = node.position(), w = node.width(), h = node.height();
    pen.fillStyle = node.style(node.hasClass("open") || node.hasClass("folded") ? "border-color" : "background-color");
    pen.globalAlpha = node.hasClass("open") ? 0.25 : 1;
    pen.fillRect(x - w / 2, y - h / 2, w, h);
    if (node.hasClass("open")) return;
    pen.lineWidth = 0.6 / k;
    pen.strokeStyle = node.style("border-color");
    pen.strokeRect(x - w / 2, y - h / 2, w, h);
  });
  frameMap();
}

function frameMap() {
  const map = element("map"), { x1, y1, x2, y2 } = cy.extent(), box = cy.elements().boundingBox();
  map.hidden = x1 <= box.x1 && x2 >= box.x2 && y1 <= box.y1 && y2 >= box.y2;
  if (map.hidden) return;
  map.style.bottom = `${element("bar").offsetHeight + 10}px`;
  const pen = map.getContext("2d"), { k, x, y } = mapScale, ratio = window.devicePixelRatio;
  pen.clearRect(0, 0, map.width, map.height);
  pen.drawImage(mapPicture, 0, 0);
  pen.lineWidth = 1.5 * ratio;
  pen.strokeStyle = colour("mark");
  pen.strokeRect((x1 * k + x) * ratio, (y1 * k + y) * ratio, (x2 - x1) * k * ratio, (y2 - y1) * k * ratio);
}

function startMap() {
  const map = element("map");
  const go = (event) => {
    const { k, x, y } = mapScale, zoom = cy.zoom();
    cy.pan({
      x: cy.width() / 2 - ((event.offsetX - x) / k) * zoom, y: cy.height() / 2 - ((event.offsetY - y) / k) * zoom,
    });
  };
  map.onpointerdown = (event) => { map.setPointerCapture(event.pointerId); go(event); };
  map.onpointermove = (event) => { if (event.buttons) go(event); };
  cy.on("viewport resize", frameMap);
  frameMap();
}
