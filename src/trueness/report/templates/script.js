"use strict";
(() => {
  const FEW = 8;
  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const words = (cell) => cell.textContent.trim();
  const labelled = (text, control) => {
    const label = element("label", text);
    label.append(control);
    return label;
  };

  const sortable = (table, heads) => {
    heads.forEach((head, column) => {
      const button = element("button", words(head), { type: "button", class: "sort" });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const numeric = head.matches(".num, .strips");
        const key = (row) => {
          const cell = row.cells[column];
          if (!numeric) return words(cell);
          return "v" in cell.dataset ? Number(cell.dataset.v) : null;
        };
        const compare = (a, b) => {
          if (a === null || b === null) return (a === null) - (b === null);
          const order = numeric ? a - b : a.localeCompare(b, undefined, { numeric: true });
          return down ? -order : order;
        };
        const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
        rows.sort((a, b) => compare(a[0], b[0]));
        table.tBodies[0].append(...rows.map((pair) => pair[1]));
      });
    });
  };

  const filterable = (table, heads) => {
    const rows = [...table.tBodies[0].rows];
    const tools = element("div", "", { class: "tools", role: "search" });
    const title = document.getElementById(table.parentElement.getAttribute("aria-labelledby"));
    tools.setAttribute("aria-label", `Search and filter: ${title ? words(title) : "table"}`);
    const box = element("input", "", { type: "search", autocomplete: "off" });
    tools.append(labelled("Search", box));
    const filters = [];
    heads.forEach((head, column) => {
      if (head.matches(".num, .strips")) return;
      const values = [...new Set(rows.map((row) => words(row.cells[column])))];
      if (values.length < 2 || values.length > FEW || values.length === rows.length) return;
      const select = element("select", "");
      select.append(element("option", "all", { value: "all" }));
      values.forEach((v, i) => select.append(element("option", v === "–" ? "none" : v.slice(0, 60), { value: String(i) })));
      filters.push([column, select, values]);
      tools.append(labelled(words(head), select));
    });
    const count = element("output", "", { "aria-live": "polite" });
    tools.append(count);
    const plain = (text) => text.toLocaleLowerCase().replaceAll("\u00a0", " ");
    const texts = rows.map((row) => plain(row.textContent));
    const apply = () => {
      const wanted = plain(box.value).trim();
      let shown = 0;
      rows.forEach((row, i) => {
        const fits = texts[i].includes(wanted) && filters.every(([column, select, values]) =>
          select.value === "all" || words(row.cells[column]) === values[Number(select.value)]);
        row.hidden = !fits;
        shown += fits;
      });
      count.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} match`;
    };
    box.addEventListener("input", apply);
    filters.forEach((filter) => filter[1].addEventListener("change", apply));
    table.parentElement.before(tools);
  };

  document.querySelectorAll("table.data").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    if (table.tBodies[0].rows.length > FEW) filterable(table, heads);
    if (table.tBodies[0].rows.length > 1) sortable(table, heads);
  });
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details:not([open])").forEach((part) => { part.open = true; part.dataset.opened = ""; });
  });
  window.addEventListener("afterprint", () => {
    document.querySelectorAll("details[data-opened]").forEach((part) => { part.open = false; delete part.dataset.opened; });
  });
})();
