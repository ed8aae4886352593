// Where the boxes of a tree are: a walk in preorder that leaves out what is too narrow.

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

// The part from weight x0 to x1 on `width` pixels. Of each box: node, x, width, depth. Behind the last
// child that is wide enough the rest is one box: -node of the first that is in it.
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

// Where narrow ones stand among wide ones, a column of pixels shows the stack at its middle.
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

// The part of a node that its child `first` and those behind it have: what was too narrow beside the rest.
export function restRange(tree, first) {
  const parent = tree.parent[first];
  return [tree.start[first], tree.start[parent] + tree.total[parent] - tree.self[parent]];
}

// The box at a place, as its index; -1 for none.
export function boxAt(boxes, x, depth) {
  for (let i = 0; i < boxes.node.length; i++)
    if (boxes.depth[i] === depth && x >= boxes.x[i] && x < boxes.x[i] + boxes.width[i]) return i;
  return -1;
}
