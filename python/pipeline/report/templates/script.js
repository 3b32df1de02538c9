"use strict";
(() => {
  const stages = JSON.parse(document.getElementById("stages").textContent);
  const PART = 500; // lines of a text that are shown at a time
  for (const stage of stages) stage.rows = stage.text.split("\n");

  const linesOf = (lines, row) => (lines.length ? lines[row - 1] || [] : []);
  // What a line is made of: lines of stage gpu if they are known, else of the program.
  const keysOf = (stage, row) => ({
    gpu: linesOf(stage.gpu_lines, row), source: linesOf(stage.source_lines, row),
  });
  const meets = (a, b) => a.some((one) => b.includes(one));
  const isLinked = (keys, other) =>
    keys.gpu.length && other.gpu.length ? meets(keys.gpu, other.gpu)
      : meets(keys.source, other.source);

  class Pane {
    constructor(box, panes) {
      this.panes = panes;
      this.list = box.querySelector(".pane");
      this.select = box.querySelector("select");
      this.words = box.querySelector(".words");
      this.row = 1;
      this.part = 0;
      for (const [number, stage] of stages.entries())
        this.select.add(new Option(stage.title, number));
      const wanted = box.dataset.stages.split(" ");
      const found = wanted.map((name) => stages.findIndex((one) => one.name === name));
      this.select.value = String(found.find((one) => one >= 0) ?? 0);
      this.select.addEventListener("change", () => { this.row = 1; this.show(0); });
      for (const button of box.querySelectorAll("button"))
        button.addEventListener("click", () => this.show(this.part + Number(button.dataset.step)));
      this.buttons = box.querySelectorAll("button");
      this.list.addEventListener("click", (event) => {
        const line = event.target.closest("[role=option]");
        if (line) this.choose(Number(line.dataset.n));
      });
      this.list.addEventListener("keydown", (event) => this.press(event));
      this.show(0);
    }
    get stage() { return stages[Number(this.select.value)]; }
    show(part) {
      const rows = this.stage.rows;
      this.part = Math.min(Math.max(part, 0), Math.floor((rows.length - 1) / PART));
      const first = this.part * PART, last = Math.min(first + PART, rows.length);
      const lines = document.createDocumentFragment();
      for (let row = first; row < last; row++) {
        const line = document.createElement("div");
        line.setAttribute("role", "option");
        line.setAttribute("aria-selected", "false");
        line.id = `${this.list.id}-${row + 1}`;
        line.dataset.n = row + 1;
        line.textContent = rows[row] || " ";
        if (!rows[row].trim()) line.setAttribute("aria-label", "blank");
        lines.append(line);
      }
      this.list.replaceChildren(lines);
      this.list.removeAttribute("aria-activedescendant");
      this.list.setAttribute("aria-label", this.stage.title);
      this.select.labels[0].dataset.title = this.stage.title;
      const whole = rows.length <= PART;
      this.words.textContent = whole ? `${rows.length} lines`
        : `lines ${first + 1} to ${last} of ${rows.length}`;
      for (const button of this.buttons) button.hidden = whole;
    }
    line(row) { return document.getElementById(`${this.list.id}-${row}`); }
    press(event) {
      const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20 };
      let row = this.row + (steps[event.key] ?? 0);
      if (event.key === "Home") row = 1;
      else if (event.key === "End") row = this.stage.rows.length;
      else if (!(event.key in steps)) return;
      event.preventDefault();
      this.choose(Math.min(Math.max(row, 1), this.stage.rows.length));
    }
    choose(row) {
      this.row = row;
      if (!this.line(row)) this.show(Math.floor((row - 1) / PART));
      const keys = keysOf(this.stage, row);
      for (const pane of this.panes) pane.mark(keys, pane === this ? row : 0);
    }
    mark(keys, own) {
      const stage = this.stage;
      let first = 0, count = 0;
      for (let row = 1; row <= stage.rows.length; row++) {
        const linked = isLinked(keys, keysOf(stage, row));
        if (linked) { first ||= row; count++; }
        const line = this.line(row);
        if (line) line.classList.toggle("linked", linked);
      }
      if (!own && first && !this.line(first)) {
        this.show(Math.floor((first - 1) / PART));
        return this.mark(keys, own);
      }
      for (const line of this.list.querySelectorAll("[aria-selected=true]"))
        line.setAttribute("aria-selected", "false");
      const target = this.line(own || first);
      if (own) {
        target.setAttribute("aria-selected", "true");
        this.list.setAttribute("aria-activedescendant", target.id);
      }
      if (target) {
        const box = this.list, top = target.offsetTop - box.offsetTop;
        if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 40)
          box.scrollTop = Math.max(top - box.clientHeight / 3, 0);
      }
      this.words.textContent = this.words.textContent.split(";")[0] +
        (own ? "" : `; ${count} linked`);
    }
  }

  const panes = [];
  for (const box of document.querySelectorAll(".pane-box")) panes.push(new Pane(box, panes));

  // Links to lines of stages: #line-gpu-12, #line-transform-7, ...
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-stage]");
    if (!link) return;
    const number = stages.findIndex((one) => one.name === link.dataset.stage);
    const pane = panes[1];
    if (number < 0 || !pane) return;
    event.preventDefault();
    pane.select.value = String(number);
    pane.show(0);
    document.getElementById("lines").scrollIntoView();
    pane.choose(Number(link.dataset.line));
    pane.list.focus();
  });

  // j and k: the next and the last pass.
  const passes = [...document.querySelectorAll("details.pass")];
  for (const [number, pass] of passes.entries())
    pass.addEventListener("keydown", (event) => {
      const next = passes[number + ({ j: 1, k: -1 }[event.key] ?? 0)];
      if (!next || next === pass) return;
      pass.open = false;
      next.open = true;
      next.querySelector("summary").focus();
    });
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
})();
