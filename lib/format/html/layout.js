// Where the boxes of a tree are: a walk in preorder that leaves out what is too narrow.

const NARROWEST_PX = 1;

// The part from weight x0 to x1 on `width` pixels. Of each box: node, x, width, depth. Behind the last
// child that is wide enough the rest is one box: -node of the first that is in it.
export function layout(tree, x0, x1, width) {
  const scale = x1 > x0 ? width / (x1 - x0) : 0;
  const boxes = { node: [], x: [], width: [], depth: [], hidden: 0 };
  const add = (node, x, right, depth) => {
    boxes.node.push(node);
    boxes.x.push(Math.max(0, x));
    boxes.width.push(Math.min(width, right) - Math.max(0, x));
    boxes.depth.push(depth);
  };
  for (let i = 0; i < tree.count; ) {
    const x = (tree.start[i] - x0) * scale;
    const right = x + tree.total[i] * scale;
    if (right <= 0 || x >= width - 1e-6) i = i === 0 ? tree.count : tree.end[i];
    else if (right - x < NARROWEST_PX && i) {
      const parent = tree.parent[i];
      const restEnd = (restRange(tree, i)[1] - x0) * scale;
      if (restEnd - x >= 0.5) add(-i, x, restEnd, tree.depth[i]);
      boxes.hidden += tree.end[parent] - i;
      i = tree.end[parent];
    } else {
      add(i, x, right, tree.depth[i]);
      i++;
    }
  }
  return boxes;
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
