"use strict";
// The drawing as a file: as it stands, all of it, in the colours of the page.

const PNG_SIDE = 8000; // pixels; browsers draw no canvas much larger

function download(blob, ending) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${data.title.replace(/[^\w.-]+/g, "-") || "graph"}.${ending}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function savePng() {
  const { w, h } = cy.elements().boundingBox();
  const scale = Math.min(2, PNG_SIDE / w, PNG_SIDE / h);
  download(cy.png({ full: true, output: "blob", scale, bg: colour("paper") }), "png");
}

function saveSvg() {
  download(new Blob([svgOfAll()], { type: "image/svg+xml" }), "svg");
}

const round = (x) => String(Math.round(x * 10) / 10);

function svgOfAll() {
  const { x1, y1, w, h } = cy.elements().boundingBox();
  const box = [x1 - 10, y1 - 10, w + 20, h + 20].map(round);
  const nodes = (selector) => cy.nodes(selector).map(svgOfNode).join("\n");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box.join(" ")}" width="${box[2]}" height="${box[3]}" ` +
    `font-family="system-ui, sans-serif" text-anchor="middle">\n<title>${text(data.title)}</title>\n` +
    `<rect x="${box[0]}" y="${box[1]}" width="${box[2]}" height="${box[3]}" fill="${colour("paper")}"/>\n` +
    [nodes(".open"), cy.edges().map(svgOfEdge).join("\n"), nodes(".plain"), nodes(".caption")].join("\n") + "\n</svg>\n";
}

function svgOfNode(node) {
  const { x, y } = node.position(), w = node.width(), h = node.height();
  const style = (name) => node.style(name), size = parseFloat(style("font-size"));
  const rect = (inset, fill, stroke) => `<rect x="${round(x - w / 2 + inset)}" y="${round(y - h / 2 + inset)}" ` +
    `width="${round(w - 2 * inset)}" height="${round(h - 2 * inset)}" rx="6" fill="${fill}" fill-opacity="${style("background-opacity")}" ${stroke}/>`;
  const width = parseFloat(style("border-width")), line = style("border-style");
  const stroke = (w_) => (w_ ? `stroke="${style("border-color")}" stroke-width="${w_}"` : "") + (line === "dashed" ? ' stroke-dasharray="4 3"' : "");
  const frame = line === "double" ? rect(0, style("background-color"), stroke(1.2)) + rect(3, "none", stroke(1.2)) : rect(0, style("background-color"), stroke(width));
  const lines = style("label").split("\n");
  const words = lines.map((each, i) => `<text x="${round(x)}" y="${round(y + size * (0.35 + 1.2 * (i - (lines.length - 1) / 2)))}" ` +
    `font-size="${size}" fill="${style("color")}">${text(each)}</text>`);
  return frame + (lines[0] ? words.join("") : "");
}

function svgOfEdge(edge) {
  const points = [edge.sourceEndpoint(), ...(edge.segmentPoints() || []), edge.targetEndpoint()];
  const [before, end] = points.slice(-2), ink = edge.style("line-color"), width = parseFloat(edge.style("width"));
  const along = Math.hypot(end.x - before.x, end.y - before.y) || 1;
  const [ux, uy] = [(end.x - before.x) / along, (end.y - before.y) / along], tip = 4 + 1.6 * width;
  const foot = { x: end.x - ux * tip, y: end.y - uy * tip };
  const arrow = edge.hasClass("saved") ? "" : `<path d="M${[end, { x: foot.x - uy * tip * 0.5, y: foot.y + ux * tip * 0.5 },
    { x: foot.x + uy * tip * 0.5, y: foot.y - ux * tip * 0.5 }].map((p) => `${round(p.x)} ${round(p.y)}`).join("L")}Z" fill="${ink}"/>`;
  const dashes = { dashed: ' stroke-dasharray="6 3"', dotted: ' stroke-dasharray="1.5 3"' }[edge.style("line-style")] || "";
  const path = [...points.slice(0, -1), arrow ? foot : end].map((p) => `${round(p.x)} ${round(p.y)}`).join("L");
  return `<path d="M${path}" fill="none" stroke-linejoin="round" stroke="${ink}" stroke-width="${width}"${dashes}/>${arrow}`;
}
