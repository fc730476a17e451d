// Questions over HTTP: Server-Sent Events that go on where a broken connection stopped, history, feedback.

const RETRIES = 3;

/** A refusal of the server, with a sentence for the reader. */
export class Refused extends Error {
  constructor(detail, retryAfter) {
    super(detail);
    this.retryAfter = retryAfter;
  }
}

/** A random id of 32 hexadecimal digits; works on plain HTTP too. */
export function randomId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The conversation that this browser is in. */
export const identity = {
  get session() {
    return remembered("lutrin.session");
  },
  get secret() {
    return remembered("lutrin.secret");
  },
  renew() {
    store("lutrin.session", randomId());
  },
};

/** Events of an answer, `{type, message, ...}` each, `message` its id; throws Refused, AbortError or a network error. */
export async function* ask(body, signal) {
  let last = "";
  for (let attempt = 0; ; attempt++) {
    try {
      for await (const event of events(body, last, signal)) {
        last = event.id;
        attempt = 0;
        yield { ...event.data, message: event.id.split(".")[0] };
        if (event.data.type === "done" || event.data.type === "error") return;
      }
      throw new TypeError("The stream ended early.");
    } catch (error) {
      if (!(error instanceof TypeError) || signal.aborted || attempt >= RETRIES || !last) throw error;
      await new Promise((resolve) => setTimeout(resolve, 300 * 2 ** attempt));
    }
  }
}

/** The newest messages of the conversation, oldest first. */
export async function history() {
  const reply = await fetch(`/history/${identity.session}`, { headers: { "X-Lutrin-Client": identity.secret } });
  if (!reply.ok) throw await refusal(reply);
  return (await reply.json()).messages;
}

/** Say what this answer was worth: `up` or `down`. */
export async function judge(message, value) {
  const headers = { "Content-Type": "application/json", "X-Lutrin-Client": identity.secret };
  const reply = await fetch(`/messages/${message}/feedback`, { method: "POST", headers, body: JSON.stringify({ value }) });
  if (!reply.ok) throw await refusal(reply);
}

async function* events(body, last, signal) {
  const headers = { Accept: "text/event-stream", "Content-Type": "application/json", "X-Lutrin-Client": identity.secret };
  if (last) headers["Last-Event-ID"] = last;
  const reply = await fetch("/chat", { method: "POST", headers, body: JSON.stringify(body), signal });
  if (!reply.ok) throw await refusal(reply);
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value;
    for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
      const event = parsed(buffer.slice(0, end));
      buffer = buffer.slice(end + 2);
      if (event) yield event;
    }
  }
}

function parsed(frame) {
  const field = (name) => frame.split("\n").find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const data = field("data");
  return data ? { id: field("id") ?? "", data: JSON.parse(data) } : null;
}

async function refusal(reply) {
  const problem = await reply.json().catch(() => ({}));
  return new Refused(problem.detail ?? "Something went wrong. Please try again.", problem.retry_after_s);
}

function remembered(name) {
  const known = read(name);
  if (known) return known;
  const made = randomId();
  store(name, made);
  return made;
}

const unstored = new Map(); // where the browser keeps nothing, a conversation lasts as long as its page

function read(name) {
  try {
    return localStorage.getItem(name) ?? unstored.get(name);
  } catch {
    return unstored.get(name);
  }
}

function store(name, value) {
  unstored.set(name, value);
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage is refused; `unstored` has it.
  }
}
