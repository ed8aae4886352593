// A context menu at the pointer or the focused element, operable by keyboard (ARIA practices, "Menu
// Button").

import { make } from "./tables.js";

export class Menu {
  constructor(element) {
    this.element = element;
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("focusout", (event) => !element.contains(event.relatedTarget) && this.close());
    element.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  // items: [[text, action, key] …], with null for a separator.
  open(title, items, x, y) {
    const { element } = this;
    this.before = document.activeElement;
    element.replaceChildren(make("p", { className: "of" }, make("bdi", {}, title)), ...items.map((item) => {
      if (!item) return make("hr", { role: "separator" });
      const [words, does, key] = item;
      const button = make("button", { type: "button", role: "menuitem", tabIndex: -1 }, make("span", {}, words), ...(key ? [make("kbd", {}, key)] : []));
      button.addEventListener("click", () => {
        this.close();
        does();
      });
      return button;
    }));
    element.hidden = false;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
    element.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
    element.querySelector("button").focus();
  }

  close() {
    const { element } = this;
    if (element.hidden) return;
    const hadFocus = element.contains(document.activeElement);
    element.hidden = true;
    if (hadFocus) this.before?.focus();
  }

  key(event) {
    const buttons = [...this.element.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    const goals = { ArrowDown: at + 1, ArrowUp: at - 1 + buttons.length, Home: 0, End: buttons.length - 1 };
    if (event.key in goals) buttons[goals[event.key] % buttons.length].focus();
    else if (event.key === "Escape" || event.key === "Tab") this.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
