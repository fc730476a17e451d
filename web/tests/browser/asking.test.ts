import {expect, test} from 'vitest';
import {ANSWER, EXCERPTS, explained, NEXT, NODE, SENTENCES, streamed, TOPIC} from '../support/answers.ts';
import {eventually, harness} from '../support/harness.ts';
import type {ShownAnswer} from '../../widget/src/wire.ts';
import {citation, done, excerpt, type Step} from '../support/scripted-server.ts';

const {server, reader: visit} = harness();

test('the button is round and stands 24 pixels from the right and the bottom of every page', async () => {
  const reader = await visit();
  for (const path of ['/', '/read/lab/part-1/01-nodes', '/read/lab/part-1/02-topics']) {
    await reader.page.goto(new URL(path, reader.page.url()).href);
    await reader.page.mouse.wheel(0, 600);
    const box = await reader.bubble.evaluate((button) => {
      const {right, bottom, width, height} = button.getBoundingClientRect();
      return [document.documentElement.clientWidth - right, innerHeight - bottom, width === height, getComputedStyle(button).borderRadius];
    });
    expect(box).toEqual([24, 24, true, '50%']);
  }
});

test('words beside the button say what it is for, until the reader scrolls or has pressed it once', async () => {
  const reader = await visit();
  const words = reader.widget.locator('.invitation');
  expect(await words.innerText()).toBe('Ask the book');
  await reader.page.mouse.wheel(0, 200);
  await words.waitFor({state: 'detached'});
  await reader.page.goto(new URL('/', reader.page.url()).href);
  await words.click();
  await reader.panel.waitFor();
  await reader.button('Close').click();
  await reader.bubble.waitFor();
  expect(await words.count()).toBe(0);
  await reader.page.reload();
  await reader.bubble.waitFor();
  expect(await words.count()).toBe(0);
});

test('the words lie on no text: a phone shows the button alone, a wider page the words where it has room', async () => {
  for (const width of [320, 360, 420]) {
    const reader = await visit('/', {viewport: {width, height: 740}});
    await reader.bubble.waitFor();
    expect(await reader.widget.locator('.invitation').isVisible()).toBe(false);
  }
  const reader = await visit('/', {viewport: {width: 800, height: 600}});
  const words = reader.widget.locator('.invitation');
  expect(await words.isVisible()).toBe(true);
  const covered = await words.evaluate((element) => {
    const line = Object.assign(document.createElement('p'), {textContent: 'A line of the book that goes on and on below the words. '.repeat(60)});
    document.querySelector('article')?.append(line);
    const [words, text] = [element.getBoundingClientRect(), line.getBoundingClientRect()];
    return words.top < text.bottom && text.top < words.bottom && words.left < text.right;
  });
  expect(covered).toBe(true);
  await reader.page.setViewportSize({width: 801, height: 600});
  await words.waitFor({state: 'detached'});
});

test('pressing it opens header, messages and input, and tells the page', async () => {
  const reader = await visit();
  await reader.page.evaluate(() => addEventListener('lutrin:open', () => (document.title = 'opened')));
  await reader.open();
  expect(await reader.page.title()).toBe('opened');
  expect(await reader.panel.locator('.head').innerText()).toContain('Ask the book');
  await eventually(() => reader.input.evaluate((input) => input.getRootNode() instanceof ShadowRoot && (input.getRootNode() as ShadowRoot).activeElement === input), true);
  await reader.button('Close').click();
  await reader.bubble.waitFor();
});

test('the words that answer come first, then sentences above them; the answer ends with what to ask next, and the time', async () => {
  const reader = await visit();
  server.script = () => streamed(1000);
  await reader.open();
  const sentencesBeside = reader.appearing('.from-book', 'does one job', '.message.book .text');
  await reader.send('What is a node?');
  expect(await sentencesBeside).toBe(0);
  await reader.answers.locator('.text').waitFor();
  const above = reader.answers.locator('.text + .progress + .from-book, .text + .from-book');
  expect(await above.count()).toBe(1);
  await reader.finished.waitFor();
  expect(await above.count()).toBe(1);
  expect(await reader.answers.locator('.text strong').innerText()).toBe('node');
  expect(await reader.answers.locator('.text').innerText()).not.toContain('process');
  expect(await reader.answers.locator('.suggestions .next').allInnerTexts()).toEqual(NEXT);
  expect(await reader.widget.locator('.message time').count()).toBe(1);
});

test('what the book’s answer follows at once is shown with it: nothing is pushed down', async () => {
  const reader = await visit();
  const [sources, first, ...rest] = explained(0);
  server.script = () => [...(sources && first ? [sources, first] : []), {pause_ms: 40}, ...rest];
  await reader.open();
  const answersBeside = reader.appearing('.from-book', 'From the book', '.message.book .text .cite');
  await reader.ask('What is a node?');
  expect(await answersBeside).toBe(1);
});

test('one card holds the book’s words, folded to those that answer; one tap opens it', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  const card = reader.answers.locator('.from-book');
  expect(await card.locator('blockquote').allInnerTexts()).toEqual(['does one job', 'repeats what was lost']);
  expect(await card.locator('mark, pre').count()).toBe(0);
  await reader.button('The whole passage').click();
  expect(await card.locator('blockquote').first().innerText()).toContain('A node is a process that does one job.');
  expect(await card.locator('pre').innerText()).toBe('ros2 run demo_nodes_cpp talker');
  await reader.button('The whole passage').click();
  expect(await card.locator('blockquote').allInnerTexts()).toEqual(['does one job', 'repeats what was lost']);
});

test('what the card holds already stands above as the answer: it is a heading line until it is opened', async () => {
  const reader = await visit();
  const table = citation(1, {quote: '| Device | Test |\n|---|---|\n| Emergency stop | Before each lesson |\n| Battery | Weekly |'});
  const row = {text: '| Device | Test |\n|---|---|\n| Emergency stop | Before each lesson |', citations: [1], support: 'stated' as const};
  server.script = () => [
    done('The row [1]', {kind: 'extractive', sources: [table], sentences: [row], excerpts: [excerpt(table, '| Emergency stop | Before each lesson |')]}),
  ];
  await reader.open();
  await reader.ask('How often is the stop tested?');
  expect(await reader.answers.locator('.text td').allInnerTexts()).toEqual(['Emergency stop', 'Before each lesson']);
  const card = reader.answers.locator('.from-book');
  expect(await card.innerText()).toBe('From the book\nChapter 1: Nodes › What a node is');
  await reader.button('The whole passage').click();
  expect(await card.locator('tr').count()).toBe(3);
});

test('no line stands between a place and the words of it that are left', async () => {
  const reader = await visit();
  const [first, second] = [citation(1, {quote: 'A node does one job.'}), citation(2, {quote: 'It talks over topics.'})];
  const excerpts = [excerpt(first, first.quote), excerpt(second, second.quote)];
  server.script = () => [done(first.quote, {sources: [first, second], sentences: [{text: first.quote, citations: [1], support: 'stated'}], excerpts})];
  await reader.open();
  await reader.ask('What is a node?');
  const card = reader.answers.locator('.from-book');
  expect((await card.innerText()).split(/\n+/).slice(-1)).toEqual([second.quote]);
  expect(await card.locator('figure').nth(1).evaluate((figure) => getComputedStyle(figure).borderTopWidth)).toBe('0px');
  await reader.button('The whole passage').click();
  expect(await card.locator('figure').nth(1).evaluate((figure) => getComputedStyle(figure).borderTopWidth)).toBe('1px');
});

test('the opened card: chapter and section as link, the words that answer marked, no file name', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  const card = reader.answers.locator('.from-book');
  await reader.button('The whole passage').click();
  expect(await card.getAttribute('aria-label')).toBe('From the book');
  expect(await card.locator('.place').allInnerTexts()).toEqual(['Chapter 1: Nodes › What a node is', 'Chapter 1: Nodes › Quality of service']);
  expect(await card.locator('.place').first().getAttribute('href')).toContain(NODE.url);
  expect(await card.locator('mark').allInnerTexts()).toEqual(['does one job', 'repeats what was lost']);
  expect(await card.locator('blockquote').last().innerText()).toBe(`${TOPIC.quote} …`);
  expect(await reader.answers.innerText()).not.toMatch(/\.mdx?\b/);
});

test('what to ask next is asked with one press', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  await reader.button(NEXT[0] ?? '').click();
  await reader.finished.nth(1).waitFor();
  expect(server.asked.map(({message}) => message)).toEqual(['What is a node?', NEXT[0]]);
});

test('an answer without the model is the card alone', async () => {
  const reader = await visit();
  server.script = () => [done(`${NODE.quote} [1]`, {kind: 'extractive', sources: [NODE], excerpts: EXCERPTS.slice(0, 1)})];
  await reader.open();
  await reader.ask('What is a node?');
  expect(await reader.answers.locator('.text').count()).toBe(0);
  expect(await reader.answers.locator('.from-book').innerText()).toContain('ros2 run demo_nodes_cpp talker');
  expect(await reader.button('The whole passage').count()).toBe(0);
});

test('a sentence that is not word for word in the book says so, and one tap shows what to compare it with', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  expect(await reader.answers.locator('.likely').allInnerTexts()).toEqual([SENTENCES[1]?.text]);
  expect(await reader.answers.locator('.text').innerText()).not.toContain('†');
  await reader.button('not word for word in the book').click();
  await eventually(() => reader.answers.locator('.from-book blockquote').last().innerText(), `${TOPIC.quote} …`);
  await eventually(() => reader.widget.evaluate((host) => host.shadowRoot?.activeElement?.textContent), 'Chapter 1: Nodes › Quality of service');
  await reader.page.reload();
  await reader.answers.locator('.likely').waitFor();
});

test('what is cited but not excerpted is compared beside the sentence', async () => {
  const reader = await visit();
  server.script = () => [done('x', {sources: [NODE, TOPIC], sentences: SENTENCES, excerpts: EXCERPTS.slice(0, 1)})];
  await reader.open();
  await reader.ask('What is a node?');
  await reader.button('not word for word in the book').click();
  await reader.preview.waitFor();
  expect(await reader.preview.innerText()).toContain(TOPIC.quote);
});

test('the closest passage says that it may not answer, and the question that was perhaps meant comes first', async () => {
  const reader = await visit();
  server.script = () => [done('x', {kind: 'extractive', closest: true, meant: 'How fast can Wren drive?', suggestions: ['Quality of service'], sources: [NODE], excerpts: EXCERPTS.slice(0, 1)})];
  await reader.open();
  await reader.ask('Wren fast?');
  expect(await reader.answers.innerText()).toMatch(/^Did you mean: How fast can Wren drive\?\s+The closest passage, it may not answer:/);
  expect(await reader.answers.locator('.from-book').evaluate((card) => getComputedStyle(card).borderTopStyle)).toBe('dashed');
  expect(await reader.answers.locator('.suggestions').innerText()).toMatch(/^The book covers\s+Quality of service$/);
  await reader.page.reload();
  server.script = () => streamed();
  await reader.button('Did you mean: How fast can Wren drive?').click();
  await reader.finished.nth(1).waitFor();
  expect(server.asked.map(({message}) => message)).toEqual(['Wren fast?', 'How fast can Wren drive?']);
});

test('while the model is on its way, the empty panel says so in one line, and asks no more once there is something to read', async () => {
  const reader = await visit();
  server.model = {model_state: 'arriving', model_progress: 'The model is on its way: 41 of 1,117 MB.'};
  await reader.open();
  await eventually(() => reader.panel.locator('.coming').allInnerTexts(), ['The model is on its way: 41 of 1,117 MB.']);
  await reader.ask('What is a node?');
  expect(await reader.panel.locator('.coming').count()).toBe(0);
  server.model = {model_state: 'ready'};
  const other = await visit();
  const told = other.page.waitForResponse((response) => response.url().endsWith('/ready'));
  await other.open();
  await (await told).finished();
  await other.input.focus();
  expect(await other.panel.locator('.coming').count()).toBe(0);
});

test('the page where the reader is goes with the question, where the page says so', async () => {
  const reader = await visit();
  await reader.widget.evaluate((chat) => {
    chat.setAttribute('book', 'lab');
    chat.setAttribute('page', 'part-1/01-nodes.md');
  });
  await reader.open();
  await reader.ask('What is this?');
  expect(server.asked[0]).toMatchObject({book: 'lab', page: 'part-1/01-nodes.md'});
});

test('questions stand on the right, answers on the left, told apart by colour', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  const [panel, question, answer] = await Promise.all([reader.panel.boundingBox(), reader.questions.locator('.said').boundingBox(), reader.answers.boundingBox()]);
  if (!panel || !question || !answer) throw new Error('not drawn');
  expect(panel.x + panel.width - (question.x + question.width)).toBeLessThan(24);
  expect(answer.x - panel.x).toBeLessThan(24);
  const colour = (element: Element): string => getComputedStyle(element).backgroundColor;
  expect(await reader.questions.locator('.said').evaluate(colour)).not.toBe(await reader.answers.evaluate(colour));
});

test('Enter sends, Shift+Enter breaks the line, and what is empty cannot be sent', async () => {
  const reader = await visit();
  await reader.open();
  expect(await reader.button('Send').isDisabled()).toBe(true);
  await reader.input.press('Enter');
  await reader.input.fill('   ');
  expect(await reader.button('Send').isDisabled()).toBe(true);
  await reader.input.press('Enter');
  await reader.input.fill('What is');
  await reader.input.press('Shift+Enter');
  await reader.input.pressSequentially('a node?');
  await reader.input.press('Enter');
  await reader.finished.waitFor();
  expect(server.asked.map(({message}) => message)).toEqual(['What is\na node?']);
});

test('while an answer is written, nothing can be typed or sent, and something moves', async () => {
  const reader = await visit();
  await reader.open();
  await reader.send('A slow one');
  expect(await reader.input.isDisabled()).toBe(true);
  expect(await reader.button('Send').count()).toBe(0);
  expect(await reader.widget.locator('.dots i').first().evaluate((dot) => getComputedStyle(dot).animationName)).toBe('breathe');
  await reader.page.keyboard.press('Enter'); // the focus is on Stop
  await eventually(() => server.left, ['A slow one']);
  expect(server.asked).toHaveLength(1);
});

test('Stop ends the answer within a moment, keeps what came, and gives the input back', async () => {
  const reader = await visit();
  await reader.open();
  await reader.send('A slow one');
  await reader.widget.locator('.from-book').waitFor();
  await reader.button('Stop').click();
  await eventually(() => server.left, ['A slow one'], 1000);
  expect(await reader.answers.innerText()).toContain('Stopped.');
  expect(await reader.answers.innerText()).toContain('A node is a process');
  expect(await reader.input.isEnabled()).toBe(true);
  server.script = () => streamed();
  await reader.button('Try again').click();
  await reader.finished.waitFor();
  expect(server.asked.map(({message}) => message)).toEqual(['A slow one', 'A slow one']);
});

test('a server that is gone is said inline, and the typed text is kept', async () => {
  const reader = await visit();
  await reader.open();
  server.down = true;
  await reader.ask('What is a node?');
  expect(await reader.answers.getByRole('alert').innerText()).toBe('Something went wrong. Please try again.');
  expect(await reader.input.inputValue()).toBe('What is a node?');
  server.down = false;
  await reader.input.press('Enter');
  await reader.finished.waitFor();
  expect(await reader.widget.getByRole('alert').count()).toBe(0);
  expect(await reader.questions.count()).toBe(1);
});

test('an unexpected error of the server reads the same', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('Something broken');
  expect(await reader.answers.getByRole('alert').innerText()).toBe('Something went wrong. Please try again.');
  expect(await reader.input.inputValue()).toBe('Something broken');
});

test('over the rate it is said once, with the seconds counted down; the question waits in the input', async () => {
  const reader = await visit();
  await reader.open();
  await reader.input.fill('How often may I ask?');
  const began_ms = Date.now();
  await reader.input.press('Enter');
  const wait = reader.widget.locator('.wait');
  await wait.waitFor();
  expect(await wait.innerText()).toBe('You have asked many questions in a short time. Please wait a moment. You can ask again in 3 s.');
  expect(await reader.widget.locator('.message').count()).toBe(0);
  expect(await reader.panel.getByText('You have asked many questions').count()).toBe(1);
  expect(await reader.widget.getByRole('status').innerText()).toContain('You can ask again in');
  expect(await reader.input.inputValue()).toBe('How often may I ask?');
  expect(await reader.button('Send').isDisabled()).toBe(true);
  await reader.input.press('Enter');
  await reader.widget.getByText('You can ask again in 1 s.').waitFor();
  await eventually(() => reader.button('Send').isEnabled(), true);
  expect(Date.now() - began_ms).toBeGreaterThan(2000);
  expect(server.asked).toHaveLength(1);
});

test('who waits for the model sees the place in the queue', async () => {
  const reader = await visit();
  await reader.open();
  await reader.send('Is there a queue?');
  await reader.widget.getByText('3 readers are ahead of you, about 4 s').waitFor();
});

test('an answer that was cut half-way goes on, and ends as if it had not been', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  const whole = await reader.answers.last().innerText();
  const said = reader.appearing('.progress', 'Connecting again');
  await reader.send('And again, cut half-way');
  await said;
  await reader.finished.nth(1).waitFor();
  const withoutTime = (text: string): string => text.replace(/\d+:\d+|Try again/g, '');
  expect(withoutTime(await reader.answers.last().innerText())).toBe(withoutTime(whole));
  expect(server.resumed).toEqual(['And again, cut half-way']);
  expect(server.asked).toHaveLength(2);
});

test('out of the book: the exact words, and topics that the book covers, each a question', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is the weather like?');
  expect(await reader.answers.locator('.text').innerText()).toBe("I couldn't find that in the book. Please check the relevant chapter.");
  await reader.button('Topics and messages').click();
  await eventually(() => server.asked.map(({message}) => message)[1], 'What does the book say about “Topics and messages”?');
});

test('warnings stand with the answer', async () => {
  const reader = await visit();
  const warning = 'Your query was truncated to 500 words. Please be more concise.';
  server.script = () => streamed().map((step) => ('send' in step && step.send.type === 'done' ? {send: {...step.send, warnings: [warning]}} : step));
  await reader.open();
  await reader.ask('A long one');
  expect(await reader.answers.locator('.warning').innerText()).toBe(warning);
});

test('an answer can be copied with its sources, also its code alone', async () => {
  const reader = await visit();
  await reader.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await reader.open();
  await reader.ask('What is a node?');
  await reader.button('Copy').click();
  const copied = (): Promise<string> => reader.page.evaluate(() => navigator.clipboard.readText());
  const origin = new URL(reader.page.url()).origin;
  await eventually(async () => (await copied()).startsWith(`${ANSWER}\n\n[1] Chapter 1: Nodes, What a node is (${origin}${NODE.url})`), true);
  await reader.button('The whole passage').click();
  await reader.button('Copy code').click();
  await eventually(copied, 'ros2 run demo_nodes_cpp talker');
});

test('a number in brackets that is code names no source', async () => {
  const reader = await visit();
  server.script = () => [done('A node does one thing. [1]\n\n```python\nqueue[1]\n```', {sources: [NODE]})];
  await reader.open();
  await reader.ask('What is a node?');
  expect(await reader.answers.locator('.cite').count()).toBe(1);
  expect(await reader.answers.locator('pre').innerText()).toBe('queue[1]');
});

test('words of the model that are not the book’s say so, and a prepared explanation says who prepared it', async () => {
  const reader = await visit();
  const sentences = [{text: 'A node does one thing.', citations: [1], support: 'stated' as const}, {text: 'It is like a pupil with one task.', citations: [], support: 'own' as const}];
  server.script = () => [done('x', {sources: [NODE], sentences, excerpts: EXCERPTS.slice(0, 1), prepared_by: 'the authors'})];
  await reader.open();
  await reader.ask('What is a node?');
  const own = reader.answers.locator('.own');
  expect(await own.innerText()).toContain('Words of the authors, not of the book.');
  expect(await own.innerText()).toContain('like a pupil with one task');
  expect(await own.innerText()).not.toContain('does one thing');
  expect(await reader.answers.innerText()).toContain('Explanation prepared by the authors.');
  await reader.page.reload();
  await reader.widget.getByText('Explanation prepared by the authors.').waitFor();
});

test('what is waited for is said: looking it up, then how long the model is likely to read', async () => {
  const reader = await visit();
  server.script = () => [{pause_ms: 600}, ...explained(900)];
  await reader.open();
  await reader.send('What is a node?');
  await reader.panel.getByText('Looking it up').waitFor();
  await reader.panel.getByText('The model reads the passage, about 20 s').waitFor();
  await reader.panel.getByText('The model writes').waitFor();
  await eventually(() => reader.widget.locator('.progress').count(), 0);
  expect(await reader.widget.locator('.progress').count()).toBe(0);
});

test('what was not explained can be explained later, in its place, where the server says that it may be', async () => {
  const reader = await visit();
  const quotes = (explainable: boolean): Step => done(`${NODE.quote} [1]`, {kind: 'extractive', sources: [NODE], excerpts: EXCERPTS.slice(0, 1), explainable});
  server.script = () => [quotes(false)];
  await reader.open();
  await reader.ask('What is a node?');
  expect(await reader.button('Explain it').count()).toBe(0);
  server.script = () => [quotes(true)];
  await reader.ask('What is a topic?');
  await reader.page.reload();
  await reader.button('Explain it').waitFor();
  server.script = () => [{status: 500, problem: {}}];
  await reader.button('Explain it').click();
  await reader.widget.getByRole('alert').waitFor();
  expect(await reader.answers.last().innerText()).toContain('process that does one job');
  server.script = () => [{pause_ms: 400}, ...explained(200)];
  await reader.button('Explain it').click();
  const first = await reader.widget.locator('.progress').innerText();
  await reader.answers.last().locator('.plain .text').waitFor();
  expect(first).toBe('The model reads the passage');
  await eventually(() => reader.widget.locator('.progress').count(), 0);
  expect(server.asked.map(({explain}) => explain)).toEqual([false, false, true, true]);
  expect(await reader.widget.getByRole('alert').count()).toBe(0);
  expect(await reader.questions.allInnerTexts()).toEqual(['What is a node?', 'What is a topic?']);
  await reader.page.reload();
  await reader.questions.nth(1).waitFor();
  expect(await reader.questions.count()).toBe(2);
  expect(await reader.answers.last().locator('.plain .text').innerText()).toContain('does one thing only');
});

test.each([0, 1, 2])('nothing that is read moves while the model explains, frame by frame, below %d other answers, and another question may be asked', async (others) => {
  const reader = await visit(undefined, {viewport: {width: 390, height: 1200}}); // an answer leaves room below it
  server.script = () => explained(0);
  await reader.open();
  for (let n = 0; n < others; n += 1) {
    await reader.ask('What is a node?');
    await reader.answers.nth(n).locator('.plain .cite').nth(1).waitFor();
    await eventually(() => reader.widget.locator('.progress').count(), 0);
  }
  server.script = () => explained(700);
  await reader.send('What is a node?');
  await reader.panel.getByText('The model reads the passage').waitFor();
  const moved = await reader.widget.evaluate(async ({shadowRoot: root}) => {
    const parts = (): Element[] => [...(root?.querySelectorAll('.message.user, .message.book > :not(.plain, .progress, footer, .plain ~ *, .progress ~ *)') ?? [])];
    const places = (): string => parts().map((part) => `${part.className} ${part.getBoundingClientRect().top} ${part.getBoundingClientRect().height} ${part.textContent}`).join('|');
    const [before, seen] = [places(), new Set<number>()];
    let frames = 0;
    while (root?.querySelector('.progress')) {
      await new Promise(requestAnimationFrame);
      frames += 1;
      seen.add([...(root?.querySelectorAll('.message.book') ?? [])].at(-1)?.querySelectorAll('.plain .cite').length ?? 0);
      if (places() !== before) return `${before} became ${places()}`;
    }
    return frames > 5 && seen.size > 1 && parts().length > 3 ? '' : `seen ${[...seen].join()} in ${frames} frames of ${parts().length} parts`;
  });
  expect(moved).toBe('');
  expect(await reader.answers.last().locator('.plain').innerText()).toContain('does one thing only');
  server.script = () => [...explained(0).slice(0, 6), {hang: true}];
  await reader.send('What is a topic?');
  await reader.panel.getByText('The model reads the passage').waitFor();
  await reader.send('What is a service?');
  await eventually(() => server.left, ['What is a topic?']);
  await reader.answers.last().getByRole('button', {name: 'Stop'}).click();
  await reader.button('Explain it').nth(1).waitFor();
});

test('a late yes of the model lifts the closest passage, in its place', async () => {
  const reader = await visit();
  const closest = {kind: 'extractive' as const, closest: true, sources: [NODE], excerpts: EXCERPTS.slice(0, 1)};
  const {send: book} = done(`${NODE.quote} [1]`, closest);
  const words = SENTENCES.slice(0, 1);
  server.script = () => [
    {send: {...(book as ShownAnswer), type: 'answer'}},
    {send: {type: 'working', what: 'reading', eta_s: 20}},
    {pause_ms: 700},
    ...words.map((sentence) => ({send: {type: 'sentence' as const, ...sentence}})),
    done(`${NODE.quote} [1]`, {...closest, kind: 'generated', confirmed: true, plain_words: words}),
  ];
  await reader.open();
  await reader.send('Who does one job?');
  const card = reader.answers.locator('.from-book');
  await card.getByText('The closest passage, it may not answer:').waitFor();
  const before = await card.boundingBox();
  await card.getByText('The passage answers it:').waitFor();
  expect(await card.boundingBox()).toEqual(before);
  await reader.page.reload();
  await card.getByText('The passage answers it:').waitFor();
});

test('after a refusal the model may look again, and what it finds stands in the place of the refusal', async () => {
  const reader = await visit();
  server.script = () => [done('This topic is not covered.', {kind: 'refusal', refusal: 'not_in_book', explainable: true, eta_s: 20})];
  await reader.open();
  await reader.ask('Who does one job?');
  server.script = () => explained(300);
  await reader.button('Look again with the model').click();
  await reader.answers.last().locator('.plain .text').waitFor();
  await eventually(() => reader.widget.locator('.progress').count(), 0);
  expect(server.asked.map(({explain}) => explain)).toEqual([false, true]);
  expect(await reader.answers.last().innerText()).toMatch(/does one job[^]*In plain words/);
  expect(await reader.answers.last().innerText()).not.toContain('not covered');
});

test('an answer that a reload cuts goes on where it was, in a second tab too', async () => {
  const reader = await visit();
  server.script = () => explained(2500);
  await reader.open();
  await reader.send('What is a node?');
  await reader.panel.getByText('The model reads the passage').waitFor();
  await reader.page.reload();
  await reader.questions.waitFor();
  expect(await reader.answers.locator('.from-book').count()).toBe(1);
  const other = await reader.context.newPage();
  await other.goto(reader.page.url());
  await other.locator('lutrin-chat .bubble').click();
  for (const page of [reader.page, other]) await page.locator('lutrin-chat .plain').getByText('does one thing only').waitFor();
  // The second tab waits for what the first has waited for.
  await eventually(() => reader.widget.locator('.progress').count(), 0, 15_000);
  expect([server.asked.length, server.followed.length]).toEqual([1, 2]);
});

test('a page that is loaded again while the model is at work says so if nothing comes of it', async () => {
  const reader = await visit();
  const steps = explained(1500);
  server.script = () => [...steps.slice(0, 6), done(`${NODE.quote} [1]`, {kind: 'extractive', sources: [NODE], excerpts: EXCERPTS.slice(0, 1)})];
  await reader.open();
  await reader.send('What is a node?');
  await reader.panel.getByText('The model reads the passage').waitFor();
  await reader.page.reload();
  await reader.panel.getByText('The model has nothing to add.').waitFor();
});

test('an explanation that is asked for in one tab is followed in the other', async () => {
  const reader = await visit();
  server.script = () => [done(`${NODE.quote} [1]`, {kind: 'extractive', sources: [NODE], excerpts: EXCERPTS.slice(0, 1), explainable: true})];
  await reader.open();
  await reader.ask('What is a node?');
  const other = await reader.context.newPage();
  await other.goto(reader.page.url());
  await other.locator('lutrin-chat .bubble').click();
  await other.getByRole('button', {name: 'Explain it'}).waitFor();
  server.script = () => explained(1500);
  await reader.button('Explain it').click();
  await other.locator('lutrin-chat').getByText('The model reads the passage').waitFor();
  for (const page of [reader.page, other]) await page.locator('lutrin-chat .plain').getByText('does one thing only').waitFor();
  expect([server.asked.length, server.followed.length]).toEqual([2, 1]);
});

test('an answer that its reader stops stays stopped when the page is loaded again', async () => {
  const reader = await visit();
  server.script = () => explained(1500);
  await reader.open();
  await reader.send('What is a node?');
  await reader.panel.getByText('The model reads the passage').waitFor();
  await reader.panel.locator('.progress ~ p button').click();
  await eventually(() => server.messages().map(({unfinished}) => unfinished), [false, false]);
  await reader.page.reload();
  await reader.button('Explain it').waitFor();
  expect([server.followed.length, await reader.widget.locator('.progress').count()]).toEqual([0, 0]);
});

test('an answer that a restart of the server cuts says so, and the explanation can be asked for again', async () => {
  const reader = await visit();
  await reader.open();
  server.script = () => [...explained(0).slice(0, 6), {hang: true}];
  await reader.send('What is a node?');
  await reader.panel.getByText('The model reads the passage').waitFor();
  server.forgetStreams();
  await reader.page.reload();
  await reader.answers.last().getByText('The explanation was cut off.').waitFor();
  expect(await reader.answers.last().innerText()).toContain('process that does one job');
  await reader.button('Explain it').waitFor();
});

test('a question can be taken up again and changed', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a nod?');
  await reader.button('Edit the question').click();
  expect(await reader.input.inputValue()).toBe('What is a nod?');
  await reader.page.keyboard.press('Backspace');
  await reader.page.keyboard.type('e?');
  await reader.page.keyboard.press('Enter');
  await reader.finished.nth(1).waitFor();
  expect(server.asked.map(({message}) => message)).toEqual(['What is a nod?', 'What is a node?']);
});

test('thumbs go to the server, with a word if the reader has one', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  await reader.button('Helpful').click();
  await eventually(() => server.judged.map(({value}) => value), ['up']);
  await reader.button('Not helpful').click();
  expect(await reader.button('Not helpful').getAttribute('aria-pressed')).toBe('true');
  expect(await reader.button('Helpful').getAttribute('aria-pressed')).toBe('false');
  await eventually(() => reader.widget.evaluate((host) => host.shadowRoot?.activeElement?.getAttribute('name')), 'comment');
  await reader.page.keyboard.type('Too short');
  await reader.page.keyboard.press('Enter');
  await eventually(() => server.judged.at(-1)?.comment, 'Too short');
  expect(new Set(server.judged.map(({id}) => id)).size).toBe(1);
});

test('the page hears of every answer', async () => {
  const reader = await visit();
  await reader.page.evaluate(() =>
    addEventListener('lutrin:answer', (event) => (document.title = (event as CustomEvent<{question: string}>).detail.question)),
  );
  await reader.open();
  await reader.ask('What is a node?');
  await eventually(() => reader.page.title(), 'What is a node?');
});

test('without an address: an error in the console, the inline message, and no request at all', async () => {
  const reader = await visit('/no-address');
  const requests: string[] = [];
  reader.page.on('request', (request) => requests.push(request.url()));
  await reader.open();
  expect(await reader.widget.getByRole('alert').innerText()).toBe('Something went wrong. Please try again.');
  expect(reader.consoleErrors.join()).toContain('no server is named');
  await reader.ask('What is a node?');
  expect(await reader.answers.getByRole('alert').innerText()).toBe('Something went wrong. Please try again.');
  expect(await reader.input.inputValue()).toBe('What is a node?');
  expect(requests).toEqual([]);
});

test('each question goes to the top of the messages, also below a long answer that came at once', async () => {
  const reader = await visit();
  const words = (many: number): string => 'The book says something about it. '.repeat(many);
  const quote = words(40);
  server.script = () => [
    {send: {type: 'sources', citations: [citation(1, {quote})]}},
    {send: {type: 'sentence', text: words(1), citations: [1], support: 'stated'}},
    {send: {type: 'excerpt', ...excerpt(citation(1, {quote}), words(30).trim())}},
    done(words(60), {suggestions: NEXT}),
  ];
  await reader.open();
  for (const question of ['What is a node?', 'What is a topic?', 'What is a service?', 'What is an action?']) {
    await reader.ask(question);
    const above_px = (): Promise<number> =>
      reader.questions.last().evaluate((message) => message.getBoundingClientRect().top - (message.closest('.messages')?.getBoundingClientRect().top ?? 0));
    await eventually(async () => Math.round(await above_px()) <= 20, true);
  }
});

test('a reader who scrolled up is left in peace while the answer grows', async () => {
  const reader = await visit();
  const filler = Array.from({length: 40}, (_, index) => ({send: {type: 'sentence' as const, text: `Sentence number ${index} says something. `.repeat(3), citations: [], support: 'stated' as const}}));
  server.script = () => [...filler.slice(0, 20), {pause_ms: 2500}, ...filler.slice(20), {hang: true}];
  await reader.open();
  await reader.send('Tell me everything');
  await reader.widget.getByText('Sentence number 19').waitFor();
  const messages = reader.widget.locator('.messages');
  const question = await reader.questions.boundingBox();
  expect(question && (await messages.boundingBox())?.y && question.y).toBeGreaterThan(0); // it still shows
  await messages.hover();
  await reader.page.mouse.wheel(0, 150);
  await reader.page.waitForTimeout(200);
  const before = await messages.evaluate((list) => list.scrollTop);
  await reader.widget.getByText('Sentence number 39').waitFor();
  expect(await messages.evaluate((list) => list.scrollTop)).toBe(before);
  const [arrow, list] = await Promise.all([reader.button('Go to the newest text').boundingBox(), messages.boundingBox()]);
  expect(arrow && list && arrow.y).toBeGreaterThanOrEqual((list?.y ?? 0) + (list?.height ?? 0)); // it covers no text
});
