// What changes while the teacher's page is open. Without this script everything works, by loading the page again.

import { countOf, textOf } from "./texts.js";

const OFTEN_MS = 1000;
const SELDOM_MS = 5000;

const job = document.querySelector('[data-job]');

for (const time of document.querySelectorAll('time')) {
  time.textContent = new Date(time.dateTime).toLocaleString([], {dateStyle: 'medium', timeStyle: 'short'});
}

for (const form of document.forms) {
  if (form.matches('[data-upload]')) continue;
  form.addEventListener('submit', () => {
    // After the form has been read: a button that is off would not be sent.
    setTimeout(() => form.querySelector('button')?.setAttribute('disabled', ''));
  });
}

// A page that the browser kept for "back" has buttons that were switched off when it was left.
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload();
});

const upload = document.querySelector('[data-upload]');
if (upload) sending(upload);
if (job) follow();

/** Files or a folder that are dragged onto the form, or chosen in it, are sent while one watches. */
function sending(form) {
  const drop = form.querySelector('[data-drop]');
  const said = form.querySelector('[data-sent]');
  const input = form.elements.files;
  const folder = form.querySelector('[data-folder]');
  let dragged = [];
  const each = form.querySelector('[data-each]');
  const together = form.querySelector('[data-together]');
  const whole = form.dataset.whole.split(',');
  const show = () => (together.hidden = each.checked);
  each.addEventListener('change', show);
  const ready = (files) => {
    dragged = files;
    // Files of which one is often a whole book are books; a folder is one.
    const loose = files.length > 1 && files.every(({path}) => !path.includes('/'));
    each.parentElement.hidden = !loose;
    each.checked = loose && files.every(({path}) => whole.includes(path.slice(path.lastIndexOf('.')).toLowerCase()));
    show();
    input.required = dragged.length === 0;
    if (!dragged.length) said.textContent = '';
    else said.textContent = textOf('teacher.ready', {files: dragged.length === 1 ? dragged[0].path : countOf(dragged.length, 'file')});
  };
  for (const type of ['dragenter', 'dragover']) {
    drop.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.add('over');
    });
  }
  for (const type of ['dragleave', 'drop']) drop.addEventListener(type, () => drop.classList.remove('over'));
  drop.addEventListener('drop', async (event) => {
    event.preventDefault();
    const items = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    ready((await Promise.all(items.map((item) => filesIn(item)))).flat());
  });
  folder.addEventListener('change', () => ready([...folder.files].map((file) => ({file, path: file.webkitRelativePath}))));
  input.addEventListener('change', () => ready([...input.files].map((file) => ({file, path: file.name}))));
  form.addEventListener('reset', () => setTimeout(() => {
    ready([]);
    said.replaceChildren(...said.kept ?? []);
  }));
  ready([]);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const data = new FormData(form);
    if (dragged.length) {
      data.delete('files');
      for (const {file, path} of dragged) data.append('files', file, path);
    }
    send(form, data, said);
  });
}

/** All files below something that was dragged here, with their paths. */
async function filesIn(entry, below = '') {
  const path = below + entry.name;
  if (entry.isFile) return [{path, file: await new Promise((resolve, reject) => entry.file(resolve, reject))}];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    for (const item of some) found.push(...(await filesIn(item, `${path}/`)));
  }
  return found;
}

function send(form, data, said) {
  const button = form.querySelector('button');
  const bar = Object.assign(document.createElement('progress'), {max: 1, value: 0, ariaLabel: textOf('teacher.sending')});
  const request = new XMLHttpRequest();
  button.disabled = true;
  said.textContent = textOf('teacher.sending_now');
  said.after(bar);
  request.upload.addEventListener('progress', ({loaded, total}) => (bar.value = total ? loaded / total : 0));
  request.addEventListener('loadend', () => {
    bar.remove();
    button.disabled = false;
    const reply = request.response;
    if (request.status !== 202) {
      said.textContent = reply?.detail ?? textOf('teacher.wrong');
      return;
    }
    const counts = {files: countOf(reply.stored, 'file'), books: countOf(reply.books.length, 'book')};
    said.kept = [textOf(reply.job.state === 'waiting' ? 'teacher.received_for_later' : 'teacher.received', counts), leftOut(reply.left_out)];
    form.reset();
    job.dataset.job = reply.job.state;
    void ask().then((news) => news && show(news));
  });
  request.open('POST', form.action);
  request.setRequestHeader('Accept', 'application/json');
  request.responseType = 'json';
  request.send(data);
}

/** What was not stored, with the reasons. */
function leftOut(files) {
  const list = document.createElement('ul');
  for (const {filename, reason} of files) list.append(Object.assign(document.createElement('li'), {textContent: textOf('teacher.left_out', {filename, reason})}));
  return list;
}

function busy(state) {
  return state === 'running' || state === 'waiting';
}

async function follow() {
  const errand = document.querySelector('[data-awaited]') !== null;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, errand || busy(job.dataset.job) ? OFTEN_MS : SELDOM_MS));
    if (document.hidden) continue;
    const news = await ask();
    if (news === undefined) continue;
    const ended = (busy(job.dataset.job) && !busy(news.job)) || (errand && !news.awaited);
    // Signed out, or what the page waited for has ended: the server draws the page anew.
    if (news === null || ended) return location.reload();
    show(news);
  }
}

/** The server's figures; null: signed out; undefined: the server is away, which may pass. */
async function ask() {
  try {
    const response = await fetch(new URL('../teacher/progress', import.meta.url));
    if (response.status === 403) return null;
    return response.ok ? await response.json() : undefined;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function show(news) {
  document.querySelector('[data-now]').textContent = news.now;
  for (const [name, value] of Object.entries(news.figures)) {
    const figure = document.querySelector(`[data-figure="${name}"]`);
    if (!figure) continue;
    if (figure.textContent !== value) figure.textContent = value;
    figure.parentElement.hidden = value === '0' || value === textOf('teacher.none_yet');
  }
  document.querySelector('[data-quiet]').hidden = document.querySelector('[data-figure]:not([hidden] > *)') !== null;
  if (job.textContent !== news.job_text) job.textContent = news.job_text;
  job.dataset.job = news.job;
}
