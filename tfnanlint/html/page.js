"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 50, PRINTED = 500, OPENED = 2, NS = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);
  const list = byId("list"), search = byId("search");
  const filters = { severity: null, rule: null, file: null, proof: null };
  let matching = data.findings, page = 0, current = -1;

  // Everything from a file is set as text: nothing of it can become markup.
  const make = (name, style, ...children) => {
    const element = document.createElement(name);
    if (style) element.className = style;
    element.append(...children);
    return element;
  };
  const drawn = (name, attributes, text) => {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // Python, line by line, for colours only.
  const TOKEN = /(#.*)|((?:\b[rbfuRBFU]{1,2})?(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\])*(?:"|$)|'(?:\\.|[^'\\])*(?:'|$)))|(\b(?:False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)\b)|(\b\d[\w.]*(?:(?<=[eE])[+-]\d+)?)/g;
  const coloured = (text) => {
    const parts = [];
    let at = 0;
    if (text.length > 2000) return [text];
    for (const match of text.matchAll(TOKEN)) {
      if (match.index > at) parts.push(text.slice(at, match.index));
      const style = match[1] ? "c" : match[2] ? "s" : match[3] ? "k" : "n";
      parts.push(make("span", style, match[0]));
      at = match.index + match[0].length;
    }
    parts.push(text.slice(at));
    return parts;
  };
  const marked = (text, from, to) => [
    ...coloured(text.slice(0, from)), make("mark", "", ...coloured(text.slice(from, to))), ...coloured(text.slice(to)),
  ];

  const sourceOf = (finding) => {
    const pre = make("pre", "source");
    const [first, from, last, to] = finding.span;
    for (const [row, shown, text] of finding.lines) {
      const line = make("span", "row", make("span", "number", String(shown)));
      if (row < first || row > last) line.append(...coloured(text));
      else line.append(...marked(text, row === first ? from : text.length - text.trimStart().length, row === last ? to : text.length));
      pre.append(line);
    }
    return pre;
  };

  // A number's place on a line on which every power of ten has room.
  const place = (value) => value === 0 ? 0 : Math.sign(value) * Math.min(1, Math.max(0.06, (Math.log10(Math.abs(value)) + 12) / 24));
  const numberLine = (words, [low, high]) => {
    const x = (value) => 200 + 150 * place(value);
    const from = low === null ? 20 : x(low), to = high === null ? 380 : x(high);
    const svg = drawn("svg", { viewBox: "0 0 400 58", class: "line", role: "img", "aria-label": "value: " + words });
    svg.append(drawn("line", { class: "axis", x1: 12, x2: 388, y1: 26, y2: 26 }));
    svg.append(drawn("line", { class: "zero", x1: 200, x2: 200, y1: 10, y2: 38 }));
    svg.append(drawn("line", { class: "range", x1: from, x2: Math.max(to, from + 1), y1: 26, y2: 26 }));
    if (low === null) svg.append(drawn("path", { class: "end", d: "M12 26l12-7v14z" }));
    if (high === null) svg.append(drawn("path", { class: "end", d: "M388 26l-12-7v14z" }));
    for (const bound of [low, high]) if (bound !== null) svg.append(drawn("circle", { class: "end", cx: x(bound), cy: 26, r: 5 }));
    const labels = new Map([[20, "-inf"], [200, "0"], [380, "inf"]]);
    for (const bound of [low, high]) if (bound !== null && bound !== 0) labels.set(x(bound), String(bound));
    const above = low !== null && high !== null && Math.abs(x(low) - x(high)) < 40 && low !== high;
    for (const [at, text] of labels) {
      const near = above && at === x(low) || at !== 200 && Math.abs(at - 200) < 30;
      svg.append(drawn("text", { x: at, y: near ? 12 : 52 }, text));
    }
    return svg;
  };

  const stepsOf = (finding) => {
    const steps = make("ol", "steps");
    for (const step of [...finding.steps].reverse()) {
      const item = make("li", "", make("div", "where", step.place));
      if (step.line) { const pre = make("pre", "", make("span", "row", ...coloured(step.line))); item.append(pre); }
      item.append(make("div", "told", step.text, ...(step.value ? [" is ", make("b", "", step.value)] : [])));
      steps.append(item);
    }
    steps.append(make("li", "", make("div", "where", finding.place), make("div", "told", finding.message)));
    return steps;
  };

  const side = (caption, style, lines) => {
    const pre = make("pre");
    for (const line of lines) pre.append(make("span", "row " + style, ...coloured(line)));
    return make("figure", "", make("figcaption", "", caption), pre);
  };
  const fixOf = (fix) => {
    const box = make("div", "fix", make("p", "", make("strong", "", fix.title), " (" + fix.promise + ")"));
    box.append(make("div", "sides", side("before", "removed", fix.before), side("after", "added", fix.after)));
    return box;
  };

  const table = (head, rows) => {
    const body = rows.map((row) => {
      const line = make("tr", "", make("th", "", row[0]), ...row.slice(1).map((text) => make("td", "", text)));
      return line;
    });
    const first = make("tr", "", ...head.map((text) => make("th", "", text)));
    return make("div", "wide", make("table", "", make("thead", "", first), make("tbody", "", ...body)));
  };
  const copied = (text, pre) => {
    const button = make("button", "copy", "Copy");
    button.type = "button";
    const chosen = () => {
      getSelection().selectAllChildren(pre);
      return document.execCommand("copy");
    };
    const told = (done) => { button.textContent = done ? "Copied" : "Press Ctrl+C"; };
    button.addEventListener("click", () => {
      if (!navigator.clipboard) told(chosen());
      else navigator.clipboard.writeText(text).then(() => told(true), () => told(chosen()));
    });
    return button;
  };
  const programOf = (text) => {
    const pre = make("pre", "program");
    for (const line of text.split("\n")) pre.append(make("span", "row", ...coloured(line), "\n"));
    return make("details", "", make("summary", "", "The program that shows it, to paste into Python"), copied(text, pre), pre);
  };
  const KEY = [["before", "before the fix"], ["after", "after the fix"], ["nan", "NaN before"], ["inf", "Inf before"], ["at", "the witness"]];
  const figureOf = (text, repaired) => {
    // It is made of numbers, and of names that were escaped.
    const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    const key = KEY.filter(([style]) => repaired || style !== "after").map(([style, words]) => make("span", "key " + style, words));
    return make("figure", "curves", document.importNode(svg, true), make("figcaption", "", ...key));
  };
  const witnessOf = (witness, box) => {
    const repaired = witness.results.some((row) => row[2]);
    const head = repaired ? ["", "before", "after the fix"] : ["", "before"];
    const rows = (list) => repaired ? list : list.map((row) => row.slice(0, 2));
    box.append(make("h3", "", "Witness"), table(["input", "in the program", "number"], witness.inputs));
    if (witness.results.length) box.append(table(head, rows(witness.results)));
    if (witness.modes.length) box.append(table(["run as", ...head.slice(1)], rows(witness.modes)));
    if (witness.figure) box.append(figureOf(witness.figure, repaired));
    box.append(programOf(witness.program));
  };
  const proofOf = (verdict) => {
    const box = make("div", "proof", make("p", "", make("span", "badge " + verdict.proof.split(" ")[0], verdict.proof), verdict.words.slice(verdict.proof.length).replace(": ", " ")));
    if (verdict.fix) box.append(make("p", "", "after the fix: " + verdict.fix));
    if (verdict.witness) witnessOf(verdict.witness, box);
    return box;
  };

  const bodyOf = (finding) => {
    const body = make("div", "body");
    if (finding.because) body.append(make("p", "", finding.severity + ": " + finding.because + "."));
    if (finding.lines.length) body.append(sourceOf(finding));
    if (finding.range) {
      body.append(make("h3", "", "Value"), make("p", "told", finding.range));
      if (finding.bounds) body.append(numberLine(finding.range, finding.bounds));
    }
    if (finding.verdict) body.append(make("h3", "", "Proof"), proofOf(finding.verdict));
    if (finding.steps.length) body.append(make("h3", "", "How the value gets there"), stepsOf(finding));
    if (finding.fixes.length) body.append(make("h3", "", finding.fixes.length > 1 ? "Fixes" : "Fix"), ...finding.fixes.map(fixOf));
    for (const hint of finding.hints) body.append(make("p", "", hint));
    body.append(make("p", "where", "tfnanlint explain " + finding.code));
    return body;
  };

  const articleOf = (finding) => {
    const title = make("button", "title",
      make("span", "severity " + finding.severity, finding.severity), make("span", "code", finding.code),
      make("span", "message", finding.message),
      make("span", "place", finding.place, ...(finding.verdict ? [" ", make("span", "badge " + finding.verdict.proof.split(" ")[0], finding.verdict.proof)] : [])));
    title.type = "button";
    title.setAttribute("aria-expanded", "false");
    const article = make("article", "", title);
    const toggle = (open) => {
      if (open && !article.querySelector(".body")) article.append(bodyOf(finding));
      if (!open) article.querySelector(".body")?.remove();
      title.setAttribute("aria-expanded", String(open));
    };
    title.addEventListener("click", () => toggle(title.getAttribute("aria-expanded") !== "true"));
    title.addEventListener("focus", () => { current = [...list.children].indexOf(article); });
    article.open = toggle;
    return article;
  };

  const show = (from, count) => {
    list.replaceChildren(...matching.slice(from, from + count).map(articleOf));
    if (!matching.length) list.append(make("p", "nothing", "No finding matches."));
  };
  const update = () => {
    const pages = Math.max(1, Math.ceil(matching.length / PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    current = -1;
    show(page * PAGE, PAGE);
    byId("shown").textContent = matching.length + " of " + data.findings.length + " shown";
    byId("page").textContent = "page " + (page + 1) + " of " + pages;
    byId("previous").disabled = page === 0;
    byId("next").disabled = page === pages - 1;
  };
  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    matching = data.findings.filter((finding) => {
      for (const kind of ["severity", "rule", "file", "proof"]) if (filters[kind] !== null && finding.keys[kind] !== filters[kind]) return false;
      finding.text ??= (finding.code + " " + finding.slug + " " + finding.place + " " + finding.message + " " + finding.lines.map((line) => line[2]).join(" ")).toLowerCase();
      return words.every((word) => finding.text.includes(word));
    });
    page = 0;
    update();
  };

  const buttons = [...document.querySelectorAll(".filter")];
  const press = () => { for (const button of buttons) button.setAttribute("aria-pressed", String(filters[button.dataset.kind] === button.dataset.key)); };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      const { kind, key } = button.dataset;
      filters[kind] = filters[kind] === key ? null : key;
      press();
      apply();
    });
  }
  const turn = (pages) => { page += pages; update(); list.focus(); window.scrollTo(0, list.offsetTop - 80); };
  let pause;
  search.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(apply, 80); });
  byId("reset").addEventListener("click", () => { search.value = ""; for (const kind in filters) filters[kind] = null; press(); apply(); });
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  const move = (by) => {
    const titles = list.querySelectorAll(".title");
    if (titles.length) titles[Math.min(Math.max(current + by, 0), titles.length - 1)].focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) { if (event.key === "Escape") search.blur(); return; }
    const keys = { "/": () => search.focus(), j: () => move(1), k: () => move(-1), n: () => byId("next").disabled || turn(1), p: () => byId("previous").disabled || turn(-1) };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  window.addEventListener("beforeprint", () => { show(0, PRINTED); for (const article of list.querySelectorAll("article")) article.open(true); });
  window.addEventListener("afterprint", update);
  update();
  if (data.findings.length <= OPENED) for (const article of list.querySelectorAll("article")) article.open(true);
})();
