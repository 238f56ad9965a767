"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  document.getElementById("theme").addEventListener("click", () => {
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });

  // Numbers sort as numbers, by the first one in the cell; everything else as text.
  const key = (cell) => {
    const text = cell.textContent.trim();
    const number = parseFloat(text.replace(/,/g, "").replace(/^[$<+]\s*/, ""));
    return cell.classList.contains("number") && !Number.isNaN(number) ? number : text;
  };
  const order = (a, b) =>
    typeof a === typeof b ? (typeof a === "number" ? a - b : a.localeCompare(b)) : typeof a === "number" ? -1 : 1;
  for (const head of document.querySelectorAll("th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const body = head.closest("table").tBodies[0];
      const place = head.cellIndex;
      const isDown = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => order(key(a.cells[place]), key(b.cells[place])));
      body.append(...(isDown ? rows.reverse() : rows));
    });
  }

  const form = document.getElementById("filters");
  if (form) {
    const samples = [...document.querySelectorAll(".sample")];
    const fields = [...form.querySelectorAll("[data-filter]")];
    const count = document.getElementById("count");
    for (const field of fields.filter((one) => one.tagName === "SELECT")) {
      const name = field.dataset.filter;
      const values = [...new Set(samples.map((sample) => sample.dataset[name]))].filter(Boolean).sort();
      for (const value of values) field.add(new Option(value, value));
      field.closest("label").hidden = values.length < 2;
    }
    const apply = () => {
      let shown = 0;
      for (const sample of samples) {
        const fits = fields.every((field) => {
          if (!field.value) return true;
          if (field.dataset.filter !== "text") return sample.dataset[field.dataset.filter] === field.value;
          return sample.textContent.toLowerCase().includes(field.value.toLowerCase());
        });
        sample.hidden = !fits;
        shown += fits;
      }
      count.textContent = `${shown} of ${samples.length} shown`;
    };
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }

  // The page's colours are written into the picture, which then stands alone.
  const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-variant-numeric"];
  const standalone = (svg) => {
    const copy = svg.cloneNode(true);
    const before = svg.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((part, index) => {
      const look = getComputedStyle(before[index]);
      for (const name of LOOKS) part.setAttribute(name, look.getPropertyValue(name));
      part.removeAttribute("class");
    });
    copy.removeAttribute("class");
    const [, , width, height] = svg.getAttribute("viewBox").split(" ");
    const paper = document.createElementNS(svg.namespaceURI, "rect");
    paper.setAttribute("width", width);
    paper.setAttribute("height", height);
    paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
    copy.prepend(paper);
    return new XMLSerializer().serializeToString(copy);
  };
  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const savePng = (text, svg, name) => {
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = width * 2;
      canvas.height = height * 2;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, `${name}.png`), "image/png");
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  };
  for (const button of document.querySelectorAll("[data-save]")) {
    button.addEventListener("click", () => {
      const figure = button.closest("figure");
      const svg = figure.querySelector("svg");
      const text = standalone(svg);
      if (button.dataset.save === "svg") save(new Blob([text], { type: "image/svg+xml" }), `${figure.dataset.name}.svg`);
      else savePng(text, svg, figure.dataset.name);
    });
  }

  addEventListener("beforeprint", () => {
    for (const sample of document.querySelectorAll(".sample:not([hidden])")) sample.open = true;
  });
})();
