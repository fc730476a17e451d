// Keeps the pages of books, of practice and of assignments that were opened here, so that they can be read without a network. The server
// puts `VERSION` before this: it changes when a book is read anew or the pages' own files change. Nothing foreign, nothing
// of `/api`, no conversation and no teacher's page is ever kept.

const NAME = "lutrin-pages-";
/** Before the slug of a book that the reader keeps whole. */
const BOOK = "lutrin-book-";
/** Path of the shelf. */
const ROOT = new URL("./", location).pathname;
const OFFLINE = "offline";
const OFFLINE_ADDRESS = new URL(OFFLINE, location).href;
/** The pages opened last, and the files and pictures that belong to them. */
const MOST_PAGES = 60;
const MOST_FILES = 160;
/** The longest PDF of a shelf is one page of a few MB. */
const MOST_BYTES = 4_000_000;
/** A school's network often does not fail but stays silent: then the page that is here is shown. */
const PATIENCE_MS = 4000;

/** Whether an address is a page, a file of pages, or nothing to keep. */
function kindOf(address) {
  const { origin, pathname } = new URL(address);
  if (origin !== location.origin || !pathname.startsWith(ROOT)) return undefined;
  const path = pathname.slice(ROOT.length);
  if (!path || path === OFFLINE || /^(read|a)\/.+/.test(path) || /^study\/[^/]+(\/([a-z]+|deck\.json))?$/.test(path)) return "page";
  if (/^(static|widget)\/.+\.[0-9a-f]{12}\.(js|css|svg)$/.test(path) || path.startsWith("picture/")) return "file";
  return undefined;
}

const opened = () => caches.open(NAME + VERSION);
const booksKept = async () => (await caches.keys()).filter((name) => name.startsWith(BOOK));

async function kept(request) {
  for (const name of [NAME + VERSION, ...(await booksKept())]) {
    const found = await (await caches.open(name)).match(request, { ignoreVary: true });
    if (found) return found;
  }
  return undefined;
}

/** Keep a page and what it needs to be shown, and let the oldest go. */
async function keep(address, response) {
  const cache = await opened();
  await put(cache, address, response);
  await trimmed(cache);
}

async function put(cache, address, response) {
  const body = await response.blob();
  if (response.status !== 200 || response.redirected || body.size > MOST_BYTES) return;
  const copy = new Response(body, { status: 200, headers: response.headers });
  await cache.delete(address, { ignoreVary: true }); // what is put anew stands last
  await cache.put(address, copy);
  if (kindOf(address) !== "page") return;
  for (const [, path] of (await body.text()).matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
    const file = new URL(path.replaceAll("&amp;", "&"), location.origin).href;
    if (kindOf(file) === "file" && !(await cache.match(file, { ignoreVary: true }))) await fetchedInto(cache, file);
  }
}

/** Fetch something into a cache; no network: then not. */
async function fetchedInto(cache, address) {
  try {
    await put(cache, address, await fetch(address));
    return true;
  } catch {
    return false;
  }
}

/** Keep a book whole, one page after another, and tell the page that asked how far that is. */
async function keepBook(asker, slug, addresses) {
  const cache = await caches.open(BOOK + slug);
  let count = 0;
  for (const address of addresses) {
    if (kindOf(address) === "page" && (await fetchedInto(cache, address))) count += 1;
    asker?.postMessage({ book: slug, kept: count, of: addresses.length });
  }
}

async function trimmed(cache) {
  const all = await cache.keys();
  for (const [kind, most] of [["page", MOST_PAGES], ["file", MOST_FILES]]) {
    const some = all.filter(({ url }) => kindOf(url) === kind && !url.endsWith(OFFLINE));
    for (const old of some.slice(0, Math.max(0, some.length - most))) await cache.delete(old, { ignoreVary: true });
  }
}

/** Fetch something and keep it; no network: then not. */
async function fetched(address) {
  try {
    await keep(address, await fetch(address));
  } catch {
    // It is kept when it is opened the next time.
  }
}

/** A page as the server has it now; without it, or if it takes too long, as it was when it was opened last. */
async function page(event) {
  const { request } = event;
  const address = request.url.split("#")[0];
  const asked = fetch(request).then((response) => {
    event.waitUntil(keep(address, response.clone()));
    return response;
  });
  event.waitUntil(asked.catch(() => undefined));
  const here = await kept(address);
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, here));
  try {
    return await (here ? Promise.race([asked, late]) : asked);
  } catch {
    if (here) return here;
    const instead = request.mode === "navigate" ? await kept(OFFLINE_ADDRESS) : undefined;
    return instead ?? Response.error();
  }
}

/** A file: its name says what is in it, so the one that is here is right. */
async function file(event) {
  const { url } = event.request;
  const here = await kept(url);
  if (here) return here;
  const response = await fetch(event.request);
  event.waitUntil(keep(url, response.clone()));
  return response;
}

addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const kind = method === "GET" ? kindOf(url) : undefined;
  if (kind) event.respondWith(kind === "page" ? page(event) : file(event));
});

/** The pages that the worker before kept, fetched anew: one after another, for the server has others to serve. */
addEventListener("install", (event) => {
  const renew = async () => {
    await fetched(OFFLINE_ADDRESS);
    for (const name of await caches.keys()) {
      if (!name.startsWith(NAME) || name === NAME + VERSION) continue;
      const old = await caches.open(name);
      for (const { url } of await old.keys()) if (kindOf(url) === "page") await fetched(url);
    }
    for (const name of await booksKept()) {
      const cache = await caches.open(name);
      for (const { url } of await cache.keys()) if (kindOf(url) === "page") await fetchedInto(cache, url);
    }
    await skipWaiting();
  };
  event.waitUntil(renew());
});

addEventListener("activate", (event) => {
  const begin = async () => {
    for (const name of await caches.keys()) if (name.startsWith(NAME) && name !== NAME + VERSION) await caches.delete(name);
    await clients.claim();
  };
  event.waitUntil(begin());
});

/** The page that is open was loaded before there was a worker. */
addEventListener("message", (event) => {
  const { keepBook: slug, addresses } = event.data ?? {};
  if (slug && Array.isArray(addresses)) return event.waitUntil(keepBook(event.source, String(slug), addresses.map(String)));
  const address = String(event.data?.keep ?? "");
  if (!URL.canParse(address) || kindOf(address) !== "page") return;
  event.waitUntil(kept(address).then((here) => here ?? fetched(address)));
});
