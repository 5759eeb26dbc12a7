// Carries clicks and forms of the page to the server, fills forms from results, and keeps the visitor's episode in mind.
"use strict";
(() => {
  const EPISODE = "ecom-rlve-episode";
  const THEME = "ecom-rlve-theme";
  const find = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const form = (tool) => all("form[data-form]").find((each) => each.dataset.form === tool);

  const valueOf = (box, required) => {
    const text = box.value.trim();
    if (box.dataset.type === "array") {
      const items = text.split(/[\s,]+/).filter(Boolean);
      return items.length || required ? items : undefined;
    }
    if (text === "") return undefined;
    if (box.dataset.type === "number" || box.dataset.type === "integer") return Number(text);
    if (box.dataset.type === "boolean") return text === "true";
    if (box.dataset.type === "either" && !Number.isNaN(Number(text))) return Number(text);
    return text;
  };

  const argsOf = (of) => {
    const args = {};
    for (const box of all("[data-type]", of)) {
      const value = valueOf(box, box.required || box.dataset.needed === "yes");
      if (value !== undefined) args[box.name] = value;
    }
    return args;
  };

  const sentBy = (of, button) => {
    const kind = of.dataset.kind;
    if (kind === "say" || kind === "raw") return { kind, text: find("textarea", of).value };
    if (kind === "answer") return { kind, args: argsOf(of), final: button?.value !== "false" };
    return { kind, name: of.dataset.form, args: argsOf(of) };
  };

  const choose = (tool) => {
    for (const each of all("button.tool")) each.setAttribute("aria-pressed", String(each.dataset.tool === tool));
    for (const each of all('form[data-kind="call"]')) each.hidden = each.dataset.form !== tool;
  };

  const fill = ({ tool, args }) => {
    const target = form(tool);
    if (!target) return;
    if (target.dataset.kind === "call") choose(tool);
    for (const [name, value] of Object.entries(args)) {
      const box = all("[data-type]", target).find((each) => each.name === name);
      if (!box) continue;
      if (box.dataset.type !== "array") box.value = value;
      else if (!box.value.split(/[\s,]+/).includes(value)) box.value = `${box.value} ${value}`.trim();
    }
    const next = all("[required]", target).find((each) => !each.value) || find('button[type="submit"]', target);
    target.scrollIntoView({ block: "nearest" });
    next.focus({ preventScroll: true });
  };

  document.addEventListener("submit", (event) => {
    const of = event.target;
    if (!of.dataset.kind) return;
    event.preventDefault();
    const episode = find("#talk [data-episode]")?.dataset.episode || sessionStorage.getItem(EPISODE) || "";
    if (!window.ecomAct) return;
    document.body.dataset.busy = "yes";
    window.ecomAct({ episode, ...sentBy(of, event.submitter) });
    if (of.dataset.kind === "say") find("textarea", of).value = "";
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.fill) fill(JSON.parse(button.dataset.fill));
    else if (button.dataset.tool) choose(button.dataset.tool);
    else if (button.id === "theme") {
      const dark = document.body.classList.toggle("dark");
      localStorage.setItem(THEME, dark ? "dark" : "light");
    }
  });

  // A chosen file is read here. A trace goes to the server to be played again; a report stays in the browser.
  const MOST_BYTES = 20_000_000;
  const framed = (text, name, policy) => {
    const frame = document.createElement("iframe");
    Object.assign(frame, { className: "report", title: `Report ${name}`, srcdoc: policy + text });
    frame.setAttribute("sandbox", "allow-scripts");
    return frame;
  };
  const refused = (words) => {
    const told = document.createElement("p");
    Object.assign(told, { className: "problem", textContent: words });
    told.setAttribute("role", "alert");
    return told;
  };
  document.addEventListener("change", async (event) => {
    const box = event.target;
    const file = box.dataset?.opens && box.files[0];
    if (!file) return;
    const told = document.getElementById(`${box.id}-told`);
    const name = document.createElement("p");
    Object.assign(name, { className: "dim", textContent: file.name });
    told.replaceChildren(name);
    const text = file.size > MOST_BYTES ? null : await file.text();
    if (text === null) told.append(refused(`A file of more than ${MOST_BYTES / 1e6} MB is not opened.`));
    else if (box.dataset.opens === "trace") window.ecomTrace({ text });
    else if (text.slice(0, 2000).toLowerCase().includes("<html")) told.append(framed(text, file.name, box.dataset.policy));
    else told.append(refused("This is no report: it is no HTML file."));
    box.value = ""; // So that the same file, changed, can be chosen again.
  });

  // Enter sends words, Shift and Enter begins a line: as in any chat.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.target.id !== "say") return;
    event.preventDefault();
    event.target.form.requestSubmit();
  });

  // Gradio changes what is shown in place, so what was seen is known by its content and not by its element.
  const seen = {};
  const isNew = (name, mark) => {
    const isChanged = seen[name] !== mark;
    seen[name] = mark;
    return isChanged && mark !== "";
  };

  const notice = () => {
    const talk = find("#talk [data-episode]");
    const episode = talk?.dataset.episode || "";
    if (isNew("talk", talk ? `${episode} ${all(".move", talk).length} ${talk.dataset.done}` : "")) {
      sessionStorage.setItem(EPISODE, episode);
      document.body.dataset.busy = "no";
      const latest = find(".latest", talk);
      talk.scrollTop = latest ? latest.offsetTop : 0;
    }
    if (find("#notice .problem")) document.body.dataset.busy = "no";
    const desk = find("#desk .desk");
    if (isNew("desk", desk ? episode : "")) {
      const first = find("button.tool", desk);
      if (first) choose(first.dataset.tool);
    }
    const ending = find("#ending .ending");
    if (isNew("ending", ending ? episode : "")) ending.scrollIntoView({ block: "nearest" });
  };

  const begin = () => {
    const kept = localStorage.getItem(THEME);
    const dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.body.classList.toggle("dark", dark);
    new MutationObserver(notice).observe(document.body, { childList: true, subtree: true });
  };
  if (document.body) begin();
  else document.addEventListener("DOMContentLoaded", begin);
})();
