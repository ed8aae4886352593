// Exports the shown view as folded stacks or SVG.

import { labelOf, lineTo } from "./tree.js";

// Returns the folded stacks (one line per stack, root first) of the samples at or below a node,
// with the node's callers.
export function folded(tree, node, nameOf) {
  const lines = [];
  for (const leaf of tree.leaves) {
    const weight = Math.round(tree.self(leaf));
    if (leaf && leaf >= node && leaf < tree.end[node] && weight > 0)
      lines.push(`${lineTo(tree, leaf).map((at) => nameOf(labelOf(tree, at)).replace(/;/g, ":")).join(";")} ${weight}`);
  }
  return lines.sort().join("\n") + (lines.length ? "\n" : "");
}

const escaped = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

// boxes: {x, y, width, fill, ink (null: the default), text, title}.
export function svg(boxes, { width, height, row, ground, ink, title }) {
  const parts = boxes.map(({ x, y, width, fill, ink: own, text, title }) => {
    const place = `x="${x.toFixed(1)}" y="${y}"`;
    const words = text ? `<text x="${(x + 4).toFixed(1)}" y="${y + row - 6}"${own ? ` fill="${own}"` : ""}>${escaped(text)}</text>` : "";
    return `<g><title>${escaped(title)}</title><rect ${place} width="${Math.max(0.5, width - 0.5).toFixed(1)}" ` +
      `height="${row - 1}" rx="1.5" fill="${fill}"/>${words}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + 30}" ` +
    `viewBox="0 -30 ${width} ${height + 30}" font-family="system-ui, sans-serif" font-size="12" fill="${ink}">\n` +
    `<rect y="-30" width="100%" height="100%" fill="${ground}"/><text x="4" y="-11">${escaped(title)}</text>\n` +
    `${parts.join("\n")}\n</svg>\n`;
}
