"use strict";
// A tall group is set in columns, as a newspaper sets its text: it is cut where few edges pass, and
// goes on to the right. Such an edge leads from the foot of its column through the gutter beside it
// to the head of a later one.

const PASSING = 3; // edges through a cut
const GUTTER = 26, LANES = 9, END = 12; // between columns, between edges in a gutter, below the last item
let tallest = Infinity; // of a column

const upper = (at) => at.y - at.height / 2;
const lower = (at) => at.y + at.height / 2;

// Where a group can be cut, from the top down.
function cutsOf(at, edges) {
  const items = at.filter((each) => !each.port).sort((a, b) => upper(a) - upper(b));
  const cuts = [];
  let foot = Infinity;
  for (const item of items) {
    const y = (foot + upper(item)) / 2;
    const passing = () => edges.filter(([a, b]) => at[a].y < y && at[b].y > y).length;
    if (foot < upper(item) && passing() <= PASSING) cuts.push(y);
    foot = Math.max(foot === Infinity ? 0 : foot, lower(item));
  }
  return cuts;
}

// As many items in each column as it can hold, the first of them in any case.
function breaksOf(cuts, height) {
  const found = [];
  let head = 0;
  for (const [k, y] of cuts.entries()) {
    if ((cuts[k + 1] ?? height) - head <= tallest) continue;
    found.push(y);
    head = y;
  }
  return found;
}

// The layout of a group in columns, if it is too tall.
function inColumns(box, edges) {
  const cuts = box.height > tallest ? cutsOf(box.at, edges) : [];
  if (!cuts.length) return box;
  const breaks = breaksOf(cuts, box.height);
  const columnOf = (p) => breaks.filter((y) => y < p.y).length;
  const columns = Array.from({ length: breaks.length + 1 }, () => (
    { left: Infinity, right: -Infinity, head: Infinity, foot: -Infinity, lanes: 0 }
  ));
  const contain = (p, width, height) => {
    const column = columns[columnOf(p)];
    column.left = Math.min(column.left, p.x - width / 2);
    column.right = Math.max(column.right, p.x + width / 2);
    column.head = Math.min(column.head, p.y - height / 2);
    column.foot = Math.max(column.foot, p.y + height / 2);
  };
  for (const each of box.at) if (!each.port) contain(each, each.width, each.height);
  box.points.flat().forEach((p) => contain(p, 0, 0));
  const chains = edges.map(([a, b], e) => [box.at[a], ...box.points[e], box.at[b]]);
  // Edges from the same item share their lane, beside the column and above the next ones.
  const lanes = new Map(), above = columns.map(() => 0);
  chains.forEach((chain, e) => chain.slice(1).forEach((p, k) => {
    const from = columnOf(chain[k]), to = columnOf(p), key = `${edges[e][0]} ${from} ${to}`;
    if (from === to || lanes.has(key)) return;
    const over = Math.max(...above.slice(from, to));
    above.fill(over + 1, from, to);
    lanes.set(key, { aside: LANES * columns[from].lanes++, over: LANES * over });
  }));
  const head = Math.max(columns[0].head, 2 * END + LANES * Math.max(...above));
  let right = 0;
  for (const column of columns) {
    column.dx = right - column.left;
    column.dy = head - column.head;
    right += column.right - column.left + GUTTER + LANES * column.lanes;
    column.gutter = right - GUTTER / 2;
  }
  const last = columns[columns.length - 1];
  const below = box.height - last.foot;
  const width = right - GUTTER - LANES * last.lanes;
  const height = Math.max(...columns.map((c) => c.foot + c.dy + (c.lanes ? END + LANES * c.lanes : below)));
  const moved = (p) => ({ ...p, x: p.x + columns[columnOf(p)].dx, y: p.y + columns[columnOf(p)].dy });
  const points = chains.map((chain, e) => {
    const route = [];
    chain.slice(1).forEach((p, k) => {
      const before = columnOf(chain[k]), here = columnOf(p);
      if (here > before) {
        const { aside, over } = lanes.get(`${edges[e][0]} ${before} ${here}`);
        const y = head - END - over, x = columns[before].gutter - aside;
        const foot = columns[before].foot + columns[before].dy + END + aside;
        route.push({ x: moved(chain[k]).x, y: foot, turn: true }, { x, y: foot }, { x, y }, { x: moved(p).x, y, turn: true });
      }
      route.push(moved(p));
    });
    return route.slice(0, -1);
  });
  const at = box.at.map((p) => (p.port ? { ...moved(p), y: p.port === "i" ? 0 : height } : moved(p)));
  return { at, points, width, height };
}
