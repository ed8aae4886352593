/* Adds zoom, search and a width that follows the window. The picture is complete without this
   script. */
"use strict";
(() => {
const ROOM = 20; // to the left and right of the frames
const CONTROLS = 30; // the height of the line with the search field
const svg = document.documentElement;
const byId = (id) => document.getElementById(id);
const canvas = byId("frames"), subtitle = byId("subtitle"), details = byId("details"), matched = byId("matched"), reset = byId("reset");

/* Unsampled weight is drawn narrower than its share. The title contains the share, with two digits. */
const isToScale = canvas.dataset.scale === undefined;

/* Frames in document order: callees follow their caller. x and width are in percent of the picture.
   share is in percent of the whole. */
const frames = [...canvas.children].map((group) => {
	const rect = group.querySelector("rect"), title = group.querySelector("title").textContent;
	const width = parseFloat(rect.getAttribute("width"));
	return {
		group, rect, title, text: group.querySelector("text"),
		name: title.slice(0, title.lastIndexOf(" (")),
		short: group.dataset.name ?? title.slice(0, title.lastIndexOf(" (")),
		x: parseFloat(rect.getAttribute("x")), width,
		share: isToScale ? width : parseFloat(title.slice(title.lastIndexOf(", ", title.lastIndexOf("%")) + 2)),
		y: Number(rect.getAttribute("y")),
	};
});
const numberOf = new Map(frames.map((frame, number) => [frame.group, number]));

/* Callees are below their caller. end: the index after the last descendant. */
const path = [];
frames.forEach((frame, number) => {
	while (path.length && frames[path.at(-1)].y >= frame.y)
		frames[path.pop()].end = number;
	frame.caller = path.length ? path.at(-1) : -1;
	path.push(number);
});
for (const number of path)
	frames[number].end = frames.length;

let zoomed = 0, columnWidth = 7.2;

/* Shortens a name like the tables of prof do. Removes the following until the name fits: scopes of
   types in brackets, contents of brackets (except the type that a Rust method starts with), scopes,
   the end. */
function shorten(name, columns) {
	const bracket = /<(?!\u2026>)[^<>]*>|\((?!\u2026\)|\)|anonymous)[^()]*\)/g;
	const isType = (inside, at) => at === 0 && name.startsWith("::", inside.length);
	if (name.length > columns)
		name = name.replace(/[<(].*[>)]/, (inside) => inside.replace(/\b(\w+::)+(?=\w)/g, ""));
	for (let shorter; name.length > columns; name = shorter) {
		shorter = name.replace(bracket, (inside, at) =>
			isType(inside, at) ? inside : inside[0] + "\u2026" + inside.at(-1));
		if (shorter === name)
			return cut(name, columns);
	}
	return name;
}

function cut(name, columns) {
	const own = name.slice(name.includes("::") ? name.lastIndexOf("::") + 2 : 0);
	if (own.length < columns && own !== name)
		return "\u2026" + name.slice(name.length - columns + 1);
	return own.length > columns ? own.slice(0, columns - 1) + "\u2026" : own;
}

function place(frame, x, width) {
	const pixels = width / 100 * canvas.width.baseVal.value, columns = Math.floor((pixels - 6) / columnWidth);
	frame.rect.classList.toggle("edged", pixels >= 4);
	frame.rect.setAttribute("x", x + "%");
	frame.rect.setAttribute("width", width + "%");
	if (columns < 4) {
		frame.text?.classList.add("hidden");
		return;
	}
	if (!frame.text) {
		frame.text = document.createElementNS(svg.namespaceURI, "text");
		frame.text.setAttribute("y", frame.y + 11);
		frame.text.setAttribute("dx", 3);
		frame.group.append(frame.text);
	}
	frame.text.classList.remove("hidden");
	frame.text.setAttribute("x", x + "%");
	frame.text.textContent = shorten(frame.short, columns);
}

function draw() {
	const {x, width, end} = frames[zoomed];
	const callers = new Set();
	for (let at = frames[zoomed].caller; at >= 0; at = frames[at].caller)
		callers.add(at);
	frames.forEach((frame, number) => {
		const inside = number >= zoomed && number < end;
		frame.group.classList.toggle("hidden", !inside && !callers.has(number));
		frame.group.classList.toggle("above", callers.has(number));
		if (inside)
			place(frame, (frame.x - x) / width * 100, frame.width / width * 100);
		else if (callers.has(number))
			place(frame, 0, 100);
	});
	reset.classList.toggle("hidden", !zoomed);
}

/* Like in the HTML report: case-sensitive only if the pattern contains a capital letter. An invalid
   pattern is searched as plain text. */
function patternOf(term) {
	const flags = /\p{Lu}/u.test(term) ? "u" : "iu";
	try {
		return new RegExp(term, flags);
	} catch {
		return new RegExp(term.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"), flags);
	}
}

/* The share counts only outermost matches, because their callees are part of them. */
function search(term) {
	const pattern = term && patternOf(term);
	let share = 0, counted = 0;
	frames.forEach((frame, number) => {
		const found = Boolean(pattern) && (pattern.test(frame.name) || pattern.test(frame.short));
		frame.rect.classList.toggle("found", found);
		if (found && number >= counted) {
			share += frame.share;
			counted = frame.end;
		}
	});
	matched.textContent = term ? `matched: ${share.toFixed(2)}%` : "";
}

function remember() {
	const state = new URLSearchParams();
	if (zoomed)
		state.set("zoom", zoomed);
	if (box.value)
		state.set("search", box.value);
	history.replaceState(null, "", "#" + state);
}

function recall() {
	const state = new URLSearchParams(location.hash.slice(1)), number = Number(state.get("zoom"));
	zoomed = frames[number] ? number : 0;
	box.value = state.get("search") ?? "";
	draw();
	search(box.value);
}

function zoom(number) {
	zoomed = number;
	draw();
	remember();
}

function fit() {
	const width = Math.max(svg.clientWidth || innerWidth, 200);
	canvas.setAttribute("width", width - ROOM);
	draw();
}

/* Replaces the word "search" with an input field, which would be useless in viewers without
   scripts. */
function makeBox() {
	const place = document.createElementNS(svg.namespaceURI, "foreignObject");
	const input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
	for (const [name, value] of Object.entries({x: 120, y: top - 4, width: 300, height: 24}))
		place.setAttribute(name, value);
	for (const [name, value] of Object.entries({id: "box", type: "search", placeholder: "search (regular expression)", title: "case-sensitive if it contains a capital letter",
		"aria-label": "search", autocomplete: "off", spellcheck: "false"}))
		input.setAttribute(name, value);
	place.append(input);
	svg.append(place);
	return input;
}

/* Moves what is below the header down, for the line with the search field. */
function makeRoom() {
	svg.setAttribute("height", Number(svg.getAttribute("height")) + CONTROLS);
	for (const element of [canvas, byId("narrow")])
		element?.setAttribute("y", Number(element.getAttribute("y")) + CONTROLS);
}

/* The hovered frame is described instead of the recording. */
function describe(text) {
	details.textContent = text;
	subtitle.classList.toggle("hidden", text !== "");
}

if (!frames.length)
	return;
const top = Number(canvas.getAttribute("y"));
const box = makeBox();
makeRoom();
const probe = frames[0].text;
if (probe?.textContent)
	columnWidth = probe.getComputedTextLength() / probe.textContent.length || columnWidth;
svg.removeAttribute("viewBox");
svg.setAttribute("width", "100%");
matched.setAttribute("x", 432);

const frameOf = (target) => numberOf.get(target.closest?.("#frames > g"));
canvas.addEventListener("click", ({target}) => frameOf(target) !== undefined && zoom(frameOf(target)));
canvas.addEventListener("mouseover", ({target}) => {
	describe(frames[frameOf(target)]?.title ?? "");
});
canvas.addEventListener("mouseleave", () => describe(""));
reset.addEventListener("click", () => zoom(0));
box.addEventListener("input", () => {
	search(box.value);
	remember();
});
addEventListener("keydown", (event) => {
	if ((event.ctrlKey || event.metaKey) && event.key === "f" || event.key === "/" && event.target !== box) {
		event.preventDefault();
		box.focus();
		box.select();
	} else if (event.key === "Escape") {
		box.value = "";
		search("");
		box.blur();
		zoom(0);
	}
});
addEventListener("resize", fit);
addEventListener("hashchange", recall);
fit();
recall();
})();
