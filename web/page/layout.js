// Layout of a tree as boxes: a preorder walk that leaves out boxes that are too narrow.

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

// Lays out the range from weight x0 to x1 on `width` pixels. Each box has node, x, width and depth. The children that
// are too narrow share one box after the last wide one, the rest box: its node is -node of the first of them.
export function layout(tree, x0, x1, width) {
  const scale = x1 > x0 ? width / (x1 - x0) : 0;
  const boxes = new Boxes(width);
  const take = tree.inOrder ? takeInOrder : takeByWeight;
  for (let i = 0; i < tree.count; ) {
    const x = (tree.start[i] - x0) * scale;
    const right = (tree.start[i] + tree.total[i] - x0) * scale;
    if (right <= 0 || x >= width - 1e-6) i = i === 0 ? tree.count : tree.end[i];
    else i = take(boxes, tree, i, x, right, x0, scale);
  }
  return boxes;
}

function takeByWeight(boxes, tree, i, x, right, x0, scale) {
  if (right - x >= NARROWEST_PX || !i) {
    boxes.add(i, x, right, tree.depth[i]);
    return i + 1;
  }
  const end = tree.end[tree.parent[i]];
  const restEnd = (restRange(tree, i)[1] - x0) * scale;
  if (restEnd - x >= 0.5) boxes.add(-i, x, restEnd, tree.depth[i]);
  boxes.hidden += end - i;
  return end;
}

// In time order narrow boxes stand between wide ones, so each pixel column shows the stack at its middle.
function takeInOrder(boxes, tree, i, x, right) {
  const from = Math.ceil(x - 0.5);
  const to = Math.ceil(right - 0.5);
  if (to <= from) {
    boxes.hidden += tree.end[i] - i;
    return tree.end[i];
  }
  if (right - x < 3) boxes.add(i, from, to, tree.depth[i]);
  else boxes.add(i, x, right, tree.depth[i]);
  return i + 1;
}

// The range of the axis that a node's child `first` and all later children have: the range of a rest box.
export function restRange(tree, first) {
  const parent = tree.parent[first];
  return [tree.start[first], tree.start[parent] + tree.total[parent] - tree.self[parent]];
}

// The index of the box at a place, or -1.
export function boxAt(boxes, x, depth) {
  for (let i = 0; i < boxes.node.length; i++)
    if (boxes.depth[i] === depth && x >= boxes.x[i] && x < boxes.x[i] + boxes.width[i]) return i;
  return -1;
}
