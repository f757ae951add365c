"use strict";
(() => {
  const at = id => document.getElementById(id);
  const view = JSON.parse(at("view").textContent);
  const moments = view.moments;
  const lines = new Map([...document.querySelectorAll("#source li")].map(li => [Number(li.dataset.line), li]));
  const drawn = new Map();
  let now = -1, scale = 0, engine = null, waiting = 0, wayIsOpen = false;

  /** Make an element of text and children; texts are never read as markup. */
  function make(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  function go(to) {
    to = Math.max(0, Math.min(moments.length - 1, to));
    if (to === now) return;
    now = to;
    const moment = moments[now];
    at("slider").value = now;
    at("slider").setAttribute("aria-valuetext", `step ${now + 1} of ${moments.length}, line ${moment.line}`);
    at("count").textContent = `${now + 1} / ${moments.length}`;
    at("first").disabled = at("back").disabled = now === 0;
    at("last").disabled = at("next").disabled = now === moments.length - 1;
    const hash = `#step-${now + 1}`;
    if (location.hash !== hash) try { history.replaceState(null, "", hash); } catch { /* in a frame without an address */ }
    markLine(moment);
    tell(moment);
    tabulate(moment);
    clearTimeout(waiting);
    waiting = setTimeout(draw, drawn.has(moment.dot.join()) ? 0 : 40);
  }

  function markLine(moment) {
    const causes = new Set(moment.mishaps.flatMap(m => m.causes));
    for (const [line, li] of lines) {
      li.classList.toggle("cause", causes.has(line));
      if (line === moment.line) li.setAttribute("aria-current", "step"); else li.removeAttribute("aria-current");
    }
    const li = lines.get(moment.line), box = at("source");
    if (!li) return;
    const top = li.offsetTop - box.offsetTop, bottom = top + li.offsetHeight;
    if (top < box.scrollTop + 24) box.scrollTop = top - 24;
    else if (bottom > box.scrollTop + box.clientHeight - 24)
      box.scrollTop = Math.min(top - 24, bottom - box.clientHeight + 24);
  }

  function tell(moment) {
    const source = lines.get(moment.line)?.querySelector("code").textContent.trim() ?? "";
    const heading = make("h2", "", make("b", "", `line ${moment.line}`), make("code", "", source));
    if (moment.function !== "<module>") heading.append(make("small", "", `in ${moment.function}`));
    if (moment.pass > 1) heading.append(make("small", "", `pass ${moment.pass}`));
    const parts = [heading];
    for (const mishap of moment.mishaps) {
      const error = !mishap.kind.endsWith("Warning");
      const box = make("div", `mishap ${error ? "error" : "warning"}`, make("p", "", make("strong", "", mishap.kind), ` ${mishap.message}`));
      if (mishap.rule) box.append(make("p", "", `${mishap.statement} `, make("code", "rule", mishap.rule)));
      if (mishap.sentence) box.append(make("p", "", mishap.sentence));
      if (mishap.cure) box.append(make("p", "cure", make("strong", "", "Cure"), ` ${mishap.cure}`));
      box.style.margin = "0";
      parts.push(box);
    }
    if (moment.changes.length) {
      parts.push(make("ul", "changes", ...moment.changes.map(([name, fact, before, after]) => {
        const told = make("li", "fact", make("b", "", `${name}.${fact}`), " ");
        if (before !== "None" && before !== after) told.append(make("s", "", `${before} → `));
        told.append(make("mark", "", after));
        return told;
      })));
    } else if (!moment.mishaps.length && !moment.way.length) {
      parts.push(make("p", "faint", "No tensor changes here."));
    }
    if (moment.because.length) {
      parts.push(make("ul", "because", ...moment.because.map(rule =>
        make("li", "", `${view.rules[rule] ?? ""} `, make("code", "rule", rule)))));
    }
    if (moment.way.length) {
      const steps = moment.way.slice(0, 60).map(([node, grads]) =>
        make("li", "", `${node} `, make("code", "", grads.map(g => g === "None" ? "undefined" : g).join(", "))));
      if (moment.way.length > 60) steps.push(make("li", "", `and ${moment.way.length - 60} more`));
      const count = `${moment.way.length} node${moment.way.length === 1 ? "" : "s"}`;
      const way = make("details", "way", make("summary", "", `The gradient's way through ${count}`), make("ol", "", ...steps));
      way.open = wayIsOpen;
      way.ontoggle = () => { wayIsOpen = way.open; };
      parts.push(way);
    }
    if (moment.printed) parts.push(make("p", "faint", "prints"), make("pre", "", moment.printed));
    at("now").replaceChildren(...parts);
    const changes = moment.changes.map(([name, fact, , after]) => `${name}.${fact} ${after}`).slice(0, 4).join("; ");
    at("spoken").textContent = `Step ${now + 1}, line ${moment.line}. ${moment.mishaps.map(m => m.kind).join(". ")} ${changes}`;
  }

  function tabulate(moment) {
    const usual = ["data", "is_leaf", "requires_grad", "grad_fn", "grad", "version"];
    const boxes = moment.boxes.map(i => view.boxes[i]);
    if (!boxes.length) {
      at("tensors").replaceChildren(make("p", "faint", "There are no tensors yet."));
      return;
    }
    const more = [...new Set(boxes.flatMap(box => box[3].map(fact => fact[0])))].filter(f => !usual.includes(f));
    const columns = [...usual, ...more];
    const head = make("tr", "", make("th", "", "tensor"), ...columns.map(c => make("th", "", c)));
    for (const th of head.children) th.scope = "col";
    const rows = boxes.map(([title, kind, refused, facts]) => {
      const name = make("th", "", title);
      name.scope = "row";
      const cells = columns.map(column => {
        const fact = facts.find(f => f[0] === column);
        const cell = make("td", fact && fact[2] ? "changed" : "", fact ? fact[1] : "");
        cell.dataset.label = column;
        return cell;
      });
      return make("tr", kind + (refused ? " refused" : ""), name, ...cells);
    });
    const table = make("table", "", make("thead", "", head), make("tbody", "", ...rows));
    const parts = [table];
    if (moment.leftOut) parts.push(make("p", "faint", `${moment.leftOut} more tensors and nodes are not shown.`));
    at("tensors").replaceChildren(...parts);
  }

  const statement = i => view.statements[i].map(part => view.fragments[part]).join("");

  async function draw() {
    const moment = moments[now], box = at("picture");
    if (!moment.dot.length) {
      box.replaceChildren(make("p", "", "There is nothing to draw yet."));
      return;
    }
    const key = moment.dot.join();
    let svg = drawn.get(key);
    if (!svg) {
      try {
        engine ??= Viz.instance();
        const viz = await engine;
        if (moment !== moments[now]) return;
        svg = viz.renderSVGElement(`digraph {\n${moment.dot.map(statement).join("\n")}\n}`);
        svg.classList.add("graph");
        svg.setAttribute("role", "img");
        svg.setAttribute("aria-label", "The graph after this line; the table of tensors tells the same.");
        for (const title of svg.querySelectorAll("title")) title.remove();
        svg.natural = parseFloat(svg.getAttribute("width")) * 4 / 3;
        svg.removeAttribute("height");
        if (drawn.size > 150) drawn.delete(drawn.keys().next().value);
        drawn.set(key, svg);
      } catch (problem) {
        box.replaceChildren(make("p", "", `The picture cannot be laid out: ${problem.message ?? problem}`));
        return;
      }
    }
    if (box.firstElementChild !== svg) box.replaceChildren(svg);
    size();
    const wanted = [".refused", ".changed", ".way", ".tensor"].map(c => svg.querySelector(`g.node${c}`)).find(Boolean);
    if (!wanted) return;
    const part = wanted.getBoundingClientRect(), room = box.getBoundingClientRect();
    box.scrollLeft += part.left + part.width / 2 - room.left - room.width / 2;
    box.scrollTop += part.top + part.height / 2 - room.top - room.height / 2;
  }

  /** Size the picture: by the chosen scale, or so that it fits as long as it stays legible. */
  function size() {
    const svg = at("picture").querySelector("svg");
    if (!svg) return;
    const room = at("picture").clientWidth - 24;
    const fits = Math.max(Math.min(1, room / svg.natural), 0.6);
    svg.setAttribute("width", Math.round(svg.natural * (scale || fits)));
  }

  function zoom(by) {
    const svg = at("picture").querySelector("svg");
    if (!svg) return;
    scale = by ? Math.max(0.25, Math.min(4, (svg.getAttribute("width") / svg.natural) * by)) : 0;
    size();
  }

  /** The next moment of a line after this one, or else its first. */
  function of(line) {
    const later = moments.findIndex((m, i) => i > now && m.line === line);
    return later >= 0 ? later : moments.findIndex(m => m.line === line);
  }

  function theme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("explain-theme", root.dataset.theme); } catch { /* no storage here */ }
  }

  function typed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const slider = event.target === at("slider");
    const inSource = at("source").contains(event.target);
    const scrolls = event.target === at("picture") && at("picture").scrollWidth > at("picture").clientWidth;
    const steps = {j: 1, k: -1};
    if (!slider && !scrolls) Object.assign(steps, {ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity});
    if (inSource) Object.assign(steps, {ArrowDown: 1, ArrowUp: -1});
    if (!(event.key in steps)) return;
    event.preventDefault();
    go(now + steps[event.key]);
    if (inSource) lines.get(moments[now].line)?.querySelector("a")?.focus({preventScroll: true});
  }

  function swiped() {
    let finger = null;
    addEventListener("touchstart", event => {
      finger = null;
      if (event.touches.length !== 1 || event.target.closest("nav")) return;
      for (let e = event.target; e && e !== document.body; e = e.parentElement)
        if (e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX)) return;
      const start = finger = event.touches[0];
      // What was touched hears the end, even if a new picture has taken its place since; the window would not.
      event.target.addEventListener("touchend", end => {
        if (finger !== start) return;
        const dx = end.changedTouches[0].clientX - start.clientX, dy = end.changedTouches[0].clientY - start.clientY;
        if (Math.abs(dx) > 60 && Math.abs(dx) > 2 * Math.abs(dy)) go(now + (dx < 0 ? 1 : -1));
      }, {passive: true, once: true});
    }, {passive: true});
  }

  function fromHash() {
    const match = /^#step-(\d+)$/.exec(location.hash);
    if (match) go(Number(match[1]) - 1);
    return Boolean(match);
  }

  at("theme").onclick = theme;
  try {
    const kept = localStorage.getItem("explain-theme");
    if (kept) document.documentElement.dataset.theme = kept;
  } catch { /* no storage here */ }
  at("save").onclick = event => {
    event.preventDefault();
    const link = make("a", "");
    link.href = URL.createObjectURL(new Blob([at("explanation").textContent], {type: "application/json"}));
    link.download = "explanation.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  if (!moments.length) {
    document.querySelector("nav").hidden = true;
    for (const part of document.querySelectorAll("figure, section[aria-label='All tensors']")) part.hidden = true;
    return;
  }
  at("slider").max = moments.length - 1;
  at("slider").oninput = event => go(Number(event.target.value));
  at("first").onclick = () => go(0);
  at("back").onclick = () => go(now - 1);
  at("next").onclick = () => go(now + 1);
  at("last").onclick = () => go(Infinity);
  at("smaller").onclick = () => zoom(1 / 1.25);
  at("larger").onclick = () => zoom(1.25);
  at("fit").onclick = () => zoom(0);
  at("source").addEventListener("click", event => {
    const link = event.target.closest("a");
    if (!link) return;
    event.preventDefault();
    const to = of(Number(link.dataset.to ?? link.closest("li").dataset.line));
    if (to >= 0) go(to);
  });
  addEventListener("keydown", typed);
  addEventListener("hashchange", fromHash);
  addEventListener("resize", size);
  swiped();
  if (!fromHash()) go(view.start);
})();
