// What changes while the teacher's page is open. Without this script everything works, by loading the page again.

const OFTEN_MS = 1000;
const SELDOM_MS = 5000;

const lines = document.querySelector('[data-lines]');
const job = document.querySelector('[data-job]');

for (const time of document.querySelectorAll('time')) {
  time.textContent = new Date(time.dateTime).toLocaleString([], {dateStyle: 'medium', timeStyle: 'short'});
}

for (const form of document.forms) {
  form.addEventListener('submit', () => {
    // After the form has been read: a button that is off would not be sent.
    setTimeout(() => form.querySelector('button').setAttribute('disabled', ''));
  });
}

// A page that the browser kept for "back" has buttons that were switched off when it was left.
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload();
});

if (job) follow();

async function follow() {
  const errand = document.querySelector('[data-awaited]') !== null;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, errand || job.dataset.job === 'running' ? OFTEN_MS : SELDOM_MS));
    if (document.hidden) continue;
    const news = await ask();
    if (news === undefined) continue;
    const ended = (job.dataset.job === 'running' && news.job !== 'running') || (errand && !news.awaited);
    // Signed out, or what the page waited for has ended: the server draws the page anew.
    if (news === null || ended) return location.reload();
    show(news);
  }
}

/** The server's figures; null: signed out; undefined: the server is away, which may pass. */
async function ask() {
  try {
    const response = await fetch('/teacher/progress');
    if (response.status === 403) return null;
    return response.ok ? await response.json() : undefined;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function show(news) {
  for (const [name, value] of Object.entries(news.figures)) {
    const figure = document.querySelector(`[data-figure="${name}"]`);
    if (figure && figure.textContent !== value) figure.textContent = value;
  }
  if (job.textContent !== news.job_text) job.textContent = news.job_text;
  job.dataset.job = news.job;
  const text = news.lines.join('\n');
  if (lines.textContent === text) return;
  const atEnd = lines.scrollHeight - lines.scrollTop - lines.clientHeight < 8;
  lines.textContent = text;
  lines.hidden = text === '';
  if (atEnd) lines.scrollTop = lines.scrollHeight;
}
