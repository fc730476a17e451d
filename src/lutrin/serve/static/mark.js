// Following a citation marks the passage that it quotes.

const KEY = "lutrin.mark";

/** Remember what to mark on the page that a citation leads to. */
export function remember(citation) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ url: citation.url, quote: citation.quote }));
  } catch {
    // Without storage the link still leads to the heading.
  }
  if (new URL(citation.url, location.href).pathname === location.pathname) setTimeout(mark, 0);
}

/** Mark the passage that was remembered, if this is its page, and bring it into view. */
export function mark() {
  let wanted = null;
  try {
    wanted = JSON.parse(sessionStorage.getItem(KEY));
    sessionStorage.removeItem(KEY);
  } catch {
    return;
  }
  const article = document.querySelector("article");
  if (!wanted || !article || new URL(wanted.url, location.href).pathname !== location.pathname) return;
  const range = find(article, wanted.quote);
  if (!range || !globalThis.Highlight) return;
  CSS.highlights.set("lutrin-mark", new Highlight(range));
  range.startContainer.parentElement.scrollIntoView({ block: "center" });
}

/** The range of a quote in an element; markup of the source and white space are passed over. */
function find(root, quote) {
  const skipped = /[\s*_`#>|[\]()\\{}~:-]/;
  const places = [];
  let text = "";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (let i = 0; i < node.data.length; i++) {
      if (skipped.test(node.data[i])) continue;
      text += node.data[i];
      places.push([node, i]);
    }
  }
  const plain = quote.replace(/\]\([^)\s]*\)/g, "");
  const words = [...plain].filter((letter) => !skipped.test(letter)).join("");
  const start = words ? text.indexOf(words) : -1;
  if (start < 0) return null;
  const range = document.createRange();
  range.setStart(...places[start]);
  const [node, offset] = places[start + words.length - 1];
  range.setEnd(node, offset + 1);
  return range;
}
