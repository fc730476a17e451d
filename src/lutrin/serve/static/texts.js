// What the pages' scripts say. The server puts `TEXTS` and `COUNTED` before this, from `messages.py`.

/** A text by its name, with `values` where it names them. */
export function textOf(name, values = {}) {
  return TEXTS[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
}

/** A number of things, as "3 pages". */
export function countOf(number, thing) {
  const form = new Intl.PluralRules(document.documentElement.lang).select(number);
  return COUNTED[thing][form].replace("{number}", number);
}
