/** Pages of a small book, as the reader of a school's server might show them: strict policy, no inline anything. */

const STYLE = `
  body {margin: 0; font: 17px/1.6 Georgia, serif; color: #2e1f14; background: #fffdf8}
  @media (prefers-color-scheme: dark) {body {color: #eadfce; background: #17110c}}
  nav, main {max-width: 40rem; margin: 0 auto; padding: 1rem}
  .tall {min-height: 120vh}
  .loud, .loud *, .loud p, .loud h1 {font: italic 30px/3 monospace; letter-spacing: 5px; word-spacing: 9px; text-transform: uppercase; text-align: right; text-indent: 40px; white-space: pre; color: red}
  .loud button, .loud textarea, .loud section, .loud h2, .loud blockquote {padding: 40px !important; color: red !important; font-size: 40px !important}
  html[data-lutrin-docked] body {padding-inline-end: var(--lutrin-docked-width)}
`;

function page(title: string, body: string, widget: string, attributes = 'lang="en"'): string {
  return `<!doctype html>
<html ${attributes}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><link rel="stylesheet" href="/style.css"><script src="/widget/lutrin.js" defer></script></head>
<body>
<nav aria-label="Book"><a href="/read/lab/part-1/01-nodes">Nodes</a> <a href="/read/lab/part-1/02-topics">Topics</a></nav>
<main><article>${body}</article></main>
${widget}
</body></html>`;
}

const NODES = `<h1 id="nodes">Nodes</h1>
<p id="first">ROS 2 is a set of libraries for building robots out of small programs.</p>
<p class="tall">Every robot in this book runs several of them.</p>
<h2 id="what-a-node-is">What a node is</h2>
<p id="definition">A <strong>node</strong> is a process that does <em>one</em> job. Nodes talk over topics.</p>
<p><button type="button" data-lutrin-context="Nodes talk over topics." data-lutrin-question="How do nodes talk?">Ask about this</button></p>
<p id="marked" data-lutrin-context>Give every node a name that says what it does.</p>
<p><label>Notes <input id="notes" value="my own notes here"></label></p>
<p class="tall">Start one with <code>ros2 run</code>.</p>`;

const TOPICS = `<h1 id="topics">Topics</h1>
<p class="tall">A topic has a name and a type.</p>
<h2 id="quality-of-service">Quality of service</h2>
<p>Reliable delivery repeats what was lost; best effort does not.</p>
<p class="tall">Sensors use best effort.</p>`;

/** As the server's page of cards has them. */
const CARDS = `<h1>Cards</h1><script src="/widget/practice.js" defer></script><ol class="cards-to-learn">${['node', 'topic']
  .map((word) => `<li data-card="${word}"><p class="front">What is a ${word}?</p><details><summary>Show the answer</summary><p>A ${word} is a ${word}.</p><p class="where"><a href="/read/lab/part-1/01-nodes#${word}">About a ${word}</a></p></details></li>`)
  .join('')}</ol><section class="again"><h2>Read again</h2><p>Its section helps:</p><ul>${['node', 'topic'].map((word) => `<li><a href="/read/lab/part-1/01-nodes#${word}">About a ${word}</a></li>`).join('')}</ul><p><a class="next" href="/study/lab/deck">Next sitting</a></p></section>`;

const html = (body: string): {type: string; body: string} => ({type: 'text/html', body});

/**
 * The pages by path.
 *
 * @param api Value of the widget's attribute.
 */
export function pages(api: string): Record<string, {type: string; body: string}> {
  const chat = `<lutrin-chat api="${api}"></lutrin-chat>`;
  return {
    '/style.css': {type: 'text/css', body: STYLE},
    '/': html(page('The lab book', '<h1>The lab book</h1><p>Read a chapter.</p>', chat)),
    '/read/lab/part-1/01-nodes': html(page('Nodes', NODES, chat)),
    '/read/lab/part-1/02-topics': html(page('Topics', TOPICS, chat)),
    '/study/lab/deck': html(page('Cards', CARDS, chat)),
    '/loud': html(page('The lab book', '<h1>The lab book</h1><p>Read a chapter.</p>', `<div class="loud">${chat}</div>`)),
    '/docked': html(page('Nodes', NODES, `<lutrin-chat api="${api}" dock></lutrin-chat>`)),
    '/docked-rtl': html(page('كتاب', NODES, `<lutrin-chat api="${api}" dock></lutrin-chat>`, 'lang="ar" dir="rtl"')),
    '/new-tab': html(page('Nodes', NODES, `<lutrin-chat api="${api}" new-tab></lutrin-chat>`)),
    '/no-address': html(page('No address', NODES, '<lutrin-chat></lutrin-chat>')),
    '/rtl': html(page('كتاب', '<h1>العُقد</h1><p id="first">العقدة عملية تؤدي مهمة واحدة.</p>', chat, 'lang="ar" dir="rtl"')),
  };
}
