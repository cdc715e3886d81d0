"use strict";
// What stands beside the way down through a graph: leaves, their copies, saved tensors, and what is
// computed from one of these alone, such as the transpose of a weight.

const PREPARES = /^(T|Mt|Transpose|Permute|View|Unsqueeze|Squeeze|Expand|ToCopy)Backward/;
const APART = 14, LANE = 30, ABOVE = 24; // between columns, for what flows through, above the user

// By the number of an item: the columns beside it, each a list of numbers from the top down.
function sidesOf(items, edges) {
  const into = items.map(() => new Set()), out = items.map(() => new Set());
  edges.forEach(([a, b]) => { into[b].add(a); out[a].add(b); });
  const isSource = (i) => !into[i].size && (items[i][0] === "c" || items[i][0] === "k" ||
    (items[i][0] === "v" && isLeaf(numberOf(items[i]))));
  const columns = {};
  items.forEach((_, i) => {
    if (out[i].size !== 1) return;
    let column = null;
    if (isSource(i)) column = [i];
    else if (items[i][0] === "v" && into[i].size === 1 && PREPARES.test(data.vertices[numberOf(items[i])].name)) {
      const [source] = into[i];
      if (isSource(source) && out[source].size === 1) column = [source, i];
    }
    const [user] = out[i];
    if (!column || into[user].size < 2 || isPort(items[user])) return;
    (columns[user] = columns[user] || []).push(column);
  });
  return columns;
}

// An item with its columns as one block, the item in the middle of its lower end.
function blockOf(i, columns, sizes, hasOthers) {
  const wide = (column) => Math.max(...column.map((j) => sizes[j].width));
  const high = (column) => sum(column.map((j) => sizes[j].height)) + APART * (column.length - 1);
  const left = columns.slice(0, Math.ceil(columns.length / 2)), right = columns.slice(left.length);
  const across = (side) => sum(side.map(wide)) + APART * Math.max(side.length - 1, 0);
  const lane = hasOthers ? LANE : APART;
  const width = Math.max(2 * Math.max(across(left), across(right)) + lane, sizes[i].width);
  const upper = Math.max(...columns.map(high));
  const places = new Map([[i, { x: width / 2, y: upper + ABOVE + sizes[i].height / 2 }]]);
  const stack = (column, x) => {
    let y = upper;
    for (const j of [...column].reverse()) {
      places.set(j, { x, y: y - sizes[j].height / 2 });
      y -= sizes[j].height + APART;
    }
  };
  let x = width / 2 - lane / 2;
  for (const column of [...left].reverse()) {
    stack(column, x - wide(column) / 2);
    x -= wide(column) + APART;
  }
  x = width / 2 + lane / 2;
  for (const column of right) {
    stack(column, x + wide(column) / 2);
    x += wide(column) + APART;
  }
  return { width, height: upper + ABOVE + sizes[i].height, places };
}

// The layout of a group in which dagre arranges the blocks.
function inBlocks(sizes, edges, sides) {
  const beside = new Set(Object.values(sides).flat(2));
  const mains = sizes.map((_, i) => i).filter((i) => !beside.has(i));
  const number = new Map(mains.map((i, n) => [i, n]));
  const between = edges.map((_, e) => e).filter((e) => number.has(edges[e][0]) && number.has(edges[e][1]));
  const crossed = new Set(between.map((e) => edges[e][1])); // with something that flows in from above
  const blocks = mains.map((i) => (sides[i] ? blockOf(i, sides[i], sizes, crossed.has(i)) : null));
  const outer = mains.map((i, n) => (blocks[n] ? { ...sizes[i], width: blocks[n].width, height: blocks[n].height } : sizes[i]));
  const links = between.map((e) => edges[e].map((i) => number.get(i)));
  const box = inColumns(dagreLayout(outer, links), links);
  const at = sizes.map((size) => ({ ...size }));
  const points = edges.map(() => []);
  mains.forEach((i, n) => {
    const { x, y, width, height } = box.at[n];
    if (!blocks[n]) Object.assign(at[i], { x, y });
    else for (const [j, p] of blocks[n].places) Object.assign(at[j], { x: x - width / 2 + p.x, y: y - height / 2 + p.y });
  });
  between.forEach((e, n) => {
    const target = number.get(edges[e][1]), { x, y, height } = box.at[target];
    points[e] = [...box.points[n], ...(blocks[target] ? [{ x, y: y - height / 2 }] : [])];
  });
  return { at, points, width: box.width, height: box.height };
}
