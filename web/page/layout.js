// Lays out a tree as boxes: a preorder walk that omits boxes that are too narrow.

import { placesBelow, rowOf, shownAs, startOf, widthOf } from "./tree.js";

const NARROWEST_PX = 1;

class Boxes {
  constructor(width) {
    Object.assign(this, { all: width, node: [], x: [], width: [], depth: [], hidden: 0 });
  }

  add(node, x, right, depth) {
    this.node.push(node);
    this.x.push(Math.max(0, x));
    this.width.push(Math.min(this.all, right) - Math.max(0, x));
    this.depth.push(depth);
  }
}

// Lays out the range of the axis from x0 to x1 on `width` pixels. Each box has node, x, width and
// depth. shared: see tree.js. Children that are too narrow share one box after the last wide one, the rest box. Its node
// is -node of the first of them.
export function layout(tree, x0, x1, width, shared = 0) {
  const boxes = new Boxes(width);
  const scale = width / (x1 - x0);
  if (x1 > x0) (tree.inOrder ? takeInOrder : takeByWeight)(boxes, tree, x0, scale, shared);
  return boxes;
}

function takeByWeight(boxes, tree, x0, scale, shared) {
  const open = [{ node: 0, start: 0, width: widthOf(tree, 0) }]; // the leftmost is last
  while (open.length) {
    const { node: next, start, width } = open.pop();
    const node = next > 0 ? shownAs(tree, shared, next) : next;
    boxes.add(node, (start - x0) * scale, (start + width - x0) * scale, rowOf(tree, shared, Math.abs(node)));
    if (node >= 0) open.push(...placesToDraw(boxes, tree, { node, start }, x0, scale).reverse());
  }
}

// Adds the boxes of a node's children, and the rest box of those that are too narrow.
function placesToDraw(boxes, tree, { node, start: from }, x0, scale) {
  const drawn = [];
  const x1 = x0 + (boxes.all - 1e-6) / scale;
  const places = placesBelow(tree, node, from);
  for (let i = 0; i < places.length && places[i].start < x1; i++) {
    const { start, width } = places[i];
    if (start + width <= x0) continue;
    if (width * scale >= NARROWEST_PX) {
      drawn.push(places[i]);
      continue;
    }
    const rest = endOf(places) - start;
    if (rest * scale >= 0.5) drawn.push({ node: -places[i].node, start, width: rest });
    boxes.hidden += countFrom(tree, places, i);
    break;
  }
  return drawn;
}

const endOf = (places) => places[places.length - 1].start + places[places.length - 1].width;

// Returns the number of nodes below a child and all later children.
function countFrom(tree, places, at) {
  places[at].count ??= places.slice(at).reduce((sum, { node }) => sum + tree.size(node), 0);
  return places[at].count;
}

// In time order, narrow boxes are between wide ones. Therefore each pixel column shows the stack at
// its middle.
function takeInOrder(boxes, tree, x0, scale) {
  for (let i = 0; i < tree.count; ) {
    const x = (tree.start[i] - x0) * scale;
    const right = (tree.start[i] + tree.total(i) - x0) * scale;
    const from = Math.ceil(x - 0.5);
    const to = Math.ceil(right - 0.5);
    const isOutside = right <= 0 || x >= boxes.all - 1e-6;
    if (!isOutside && to > from) {
      if (right - x < 3) boxes.add(i, from, to, tree.depth[i]);
      else boxes.add(i, x, right, tree.depth[i]);
      i++;
      continue;
    }
    if (!isOutside) boxes.hidden += tree.end[i] - i;
    i = tree.end[i];
  }
}

// Returns the number of nodes in the rest box that starts with a child.
export function restCount(tree, first) {
  const places = placesBelow(tree, tree.parent[first]);
  return countFrom(tree, places, places.findIndex(({ node }) => node === first));
}

// Returns the range of the axis that a node's child `first` and all later children cover: the range
// of a rest box.
export const restRange = (tree, first) => [startOf(tree, first), endOf(placesBelow(tree, tree.parent[first]))];

// Returns the index of the box at a place, or -1.
export function boxAt(boxes, x, depth) {
  for (let i = 0; i < boxes.node.length; i++)
    if (boxes.depth[i] === depth && x >= boxes.x[i] && x < boxes.x[i] + boxes.width[i]) return i;
  return -1;
}
