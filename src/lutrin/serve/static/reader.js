// The built-in reader's own script: search, and where the reader left off. Pages can be read without it.

const STORE = "lutrin:reading:";
const WRONG = "Something went wrong. Please try again.";
const EXCERPT_CHARS = 180;
const GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho . sigma tau upsilon phi chi psi omega".split(" ");
const SIGNS = { approx: "≈", cdot: "·", ge: "≥", geq: "≥", in: "∈", infty: "∞", le: "≤", leq: "≤", ll: "≪", ne: "≠", pm: "±", quad: ", ", sum: "∑", times: "×", to: "→" };

/** An element with properties and children. */
function el(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

// Search ----------------------------------------------------------------------------------------------------------

function searchBox(form) {
  const { query } = form.elements;
  const count = form.querySelector(".found-count");
  const list = form.querySelector(".found");
  let round = 0;
  form.hidden = false;
  const close = () => {
    round += 1;
    list.hidden = true;
    count.textContent = "";
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const words = query.value.trim();
    if (!words) return close();
    const mine = ++round;
    count.textContent = "Searching";
    const found = await search(words, form.dataset.book);
    if (mine !== round) return;
    count.textContent = found ? said(found.length) : WRONG;
    list.replaceChildren(...(found ?? []).map(entry));
    list.hidden = !found?.length;
  });
  query.addEventListener("input", () => query.value.trim() || close());
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      close();
      query.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      step(form, event);
    }
  });
  document.addEventListener("pointerdown", (event) => form.contains(event.target) || close());
  list.addEventListener("click", (event) => event.target.closest("a") && close());
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable], lutrin-chat");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    query.focus();
  });
}

/** Passages, the nearest of each heading; undefined if the server could not be asked. */
async function search(words, book) {
  try {
    const response = await fetch("/api/retrieve", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ query: words, top_k: 12, book: book || null }),
    });
    if (!response.ok) return undefined;
    const passages = await response.json();
    return [...new Map(passages.reverse().map((passage) => [passage.metadata.url, passage])).values()].reverse().slice(0, 8);
  } catch {
    return undefined;
  }
}

function entry({ text, metadata }) {
  const { url, section_title: title, chapter, book_title: book, filename } = metadata;
  const plain = visible(text);
  const excerpt = plain.length > EXCERPT_CHARS ? `${plain.slice(0, EXCERPT_CHARS).replace(/\s\S*$/, "")}…` : plain;
  const link = el("a", { href: url }, el("strong", {}, title || filename), el("span", {}, chapter || book), el("span", {}, excerpt));
  link.dataset.lutrinQuote = text.split("\n\n")[0].slice(0, 400);
  return el("li", {}, link);
}

/** Markdown as a glance at it reads. */
function visible(markdown) {
  return markdown
    .replace(/^(```|~~~|:::|import |export ).*$/gm, " ")
    .replace(/\$\$([^$]+)\$\$|\$(?!\s)([^$\n]+)(?<!\s)\$(?!\d)/g, (_, display, inline) => formula(display ?? inline))
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<\/?[A-Za-z][^>]*>|\{\/\*.*?\*\/\}|\{#[\w-]+\}|[*`|]|^#+ |^> ?/gm, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** A formula as it would be written in a line. */
function formula(tex) {
  return tex
    .replace(/\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, "$1 / $2")
    .replace(/\\([A-Za-z]+)( (?=[A-Za-z]))?/g, (_, name) => letter(name) ?? SIGNS[name] ?? "")
    .replace(/\\.|[{}_]/g, "");
}

function letter(name) {
  const at = GREEK.indexOf(name.toLowerCase());
  return at < 0 ? undefined : String.fromCodePoint(0x3b1 + at - (/^[A-Z]/.test(name) ? 0x20 : 0));
}

function said(count) {
  if (!count) return "Nothing in the book is near that.";
  return count === 1 ? "One place" : `${count} places`;
}

/** Arrow keys go from the box through what was found, and back. */
function step(form, event) {
  const stops = [form.elements.query, ...form.querySelectorAll(".found:not([hidden]) a")];
  const at = stops.indexOf(document.activeElement);
  const next = stops[at + (event.key === "ArrowDown" ? 1 : -1)];
  if (at < 0 || !next) return;
  event.preventDefault();
  next.focus();
}

// Where the reader left off ----------------------------------------------------------------------------------------

function remember(main) {
  const { book, title } = main.dataset;
  const headings = [...main.querySelectorAll("article :is(h2, h3)[id], article section.page[id]")];
  const save = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 2).at(-1);
    const place = passed && scrollY > 0 ? `#${encodeURIComponent(passed.id).replaceAll("%3D", "=")}` : "";
    keep(STORE + book, JSON.stringify({ address: location.pathname + place, title }));
  };
  // A page that is left may be told so only after the next one has begun: while the reader reads is the time to save.
  let resting = 0;
  const saveSoon = () => {
    clearTimeout(resting);
    resting = setTimeout(save, 200);
  };
  addEventListener("scroll", saveSoon, { passive: true });
  save();
}

function offer(section) {
  const kept = recall(STORE + section.dataset.book);
  if (!kept) return;
  const { address, title } = JSON.parse(kept);
  const known = [...section.querySelectorAll("nav a")].find((link) => link.pathname === address.split("#")[0]);
  if (!known) return; // the page is gone from the book
  known.setAttribute("aria-current", "location");
  section.querySelector("nav").before(el("p", { className: "continue" }, el("a", { href: address }, el("span", {}, "Go on reading"), ` ${title}`)));
}

function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Without storage the shelf shows no place to go on from.
  }
}

function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

// The page ---------------------------------------------------------------------------------------------------------

for (const form of document.querySelectorAll("form.search")) searchBox(form);
for (const section of document.querySelectorAll(".shelf [data-book]")) offer(section);
const main = document.querySelector("main[data-book]");
if (main) remember(main);
const here = document.querySelector(".aside [aria-current]");
if (here) here.closest(".aside").scrollTop = here.offsetTop - innerHeight / 3;
