// Texts are others': everything is put in as text, never as markup, and nothing is fetched.

function element(kind, className, text) {
  const made = document.createElement(kind);
  if (className) made.className = className;
  if (text !== undefined && text !== null) made.textContent = text;
  return made;
}

function field(name, text) {
  const made = element("div", "proctor-field");
  made.append(element("h4", "", name), element("pre", "", text ?? "–"));
  return made;
}

function fits(sample, words) {
  const text = [sample.sample_id, sample.model, sample.benchmark, sample.category, sample.input, sample.response];
  return words.every((word) => text.some((part) => (part ?? "").toLowerCase().includes(word)));
}

function mark(sample) {
  const value = sample.scores.length ? sample.scores[0].value : null;
  return sample.outcome === "failed" || value === null ? "–" : value.toFixed(2);
}

function render({ model, el }) {
  const root = element("div", "proctor-samples");
  const head = element("div", "proctor-head");
  const search = element("input");
  search.type = "search";
  search.placeholder = "words to look for";
  search.setAttribute("aria-label", "words to look for");
  const count = element("span", "proctor-count");
  head.append(element("strong", "", `Run ${model.get("run_id")}`), search, count);
  const list = element("div", "proctor-list");
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "samples");
  const detail = element("div", "proctor-detail");
  const body = element("div", "proctor-body");
  body.append(list, detail);
  root.append(head, body);
  el.append(root);
  let chosen = null;

  function drawList() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = model.get("samples");
    const found = all.filter((sample) => fits(sample, words));
    count.textContent = `${found.length} of ${all.length} samples`;
    if (!found.includes(chosen)) chosen = found[0] ?? null;
    list.replaceChildren(...found.map(row));
    drawDetail();
  }

  function row(sample) {
    const made = element("button", "proctor-row");
    made.type = "button";
    made.setAttribute("role", "option");
    made.setAttribute("aria-selected", String(sample === chosen));
    made.append(element("span", "proctor-mark", mark(sample)), element("span", "", `${sample.sample_id} · ${sample.model}`));
    made.addEventListener("click", () => {
      chosen = sample;
      for (const one of list.children) one.setAttribute("aria-selected", String(one === made));
      drawDetail();
    });
    return made;
  }

  function drawDetail() {
    if (chosen === null) {
      detail.replaceChildren(element("p", "", "No sample fits."));
      return;
    }
    const about = [chosen.model, chosen.benchmark, chosen.category, chosen.outcome].filter(Boolean).join(" · ");
    const parts = [element("p", "proctor-about", about), field("Question", chosen.input), field("Expected", chosen.target)];
    parts.push(chosen.error ? field("Error", chosen.error) : field("Answer", chosen.response));
    for (const score of chosen.scores) {
      const value = score.value === null ? "not measured" : score.value.toFixed(2);
      parts.push(field(`${score.name}: ${value}`, score.reason || score.answer));
    }
    detail.replaceChildren(...parts, talk(chosen.result_id));
  }

  function talk(resultId) {
    const made = element("div", "proctor-comments");
    made.append(element("h4", "", "Comments"));
    for (const one of model.get("comments").filter((one) => one.result_id === resultId)) {
      const said = element("div", "proctor-comment");
      said.append(element("small", "", `${one.author}, ${one.created_at.slice(0, 16).replace("T", " ")}`), element("p", "", one.text));
      made.append(said);
    }
    const box = element("textarea");
    box.rows = 2;
    box.setAttribute("aria-label", "comment");
    const send = element("button", "proctor-send", "Comment");
    send.type = "button";
    send.addEventListener("click", () => {
      model.send({ comment: box.value, result_id: resultId });
    });
    const notice = element("p", "proctor-notice", model.get("notice"));
    notice.setAttribute("role", "status");
    made.append(box, send, notice);
    return made;
  }

  function drawNotice() {
    const notice = detail.querySelector(".proctor-notice");
    if (notice) notice.textContent = model.get("notice");
  }

  search.addEventListener("input", drawList);
  model.on("change:samples", drawList);
  model.on("change:comments", drawDetail);
  model.on("change:notice", drawNotice);
  drawList();
  return () => {
    model.off("change:samples", drawList);
    model.off("change:comments", drawDetail);
    model.off("change:notice", drawNotice);
  };
}

export default { render };
