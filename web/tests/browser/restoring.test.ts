import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {eventually, harness} from '../support/harness.ts';

const {server, reader: visit, base} = harness();

test('a new browser gets a session silently and starts empty', async () => {
  const reader = await visit();
  const stored = await reader.page.evaluate(() => [localStorage.getItem('lutrin:session'), localStorage.getItem('lutrin:secret')]);
  expect(stored[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(stored[1]?.length).toBeGreaterThanOrEqual(64);
  await reader.open();
  expect(await reader.widget.locator('.message').count()).toBe(0);
  expect(await reader.input.isEnabled()).toBe(true);
});

test('a reload brings the conversation back in order within two seconds, the panel still open', async () => {
  const reader = await visit();
  await reader.open();
  for (const question of ['What is a node?', 'What is a topic?', 'What is a service?']) await reader.ask(question);
  const before = await reader.widget.locator('.message').allInnerTexts();
  const began_ms = Date.now();
  await reader.page.reload();
  await reader.questions.nth(2).waitFor();
  expect(Date.now() - began_ms).toBeLessThan(2000);
  expect(await reader.widget.locator('.message').allInnerTexts()).toEqual(before);
  expect(await reader.answers.last().locator('.from-book blockquote').allInnerTexts()).toEqual(['does one job', 'repeats what was lost']);
});

test('nothing can be asked before the conversation is there', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  server.historyPause_ms = 4000; // longer than a busy machine takes to load the page
  await reader.page.reload();
  await reader.widget.getByText('Opening your conversation').waitFor();
  expect(await reader.input.isDisabled()).toBe(true);
  await reader.questions.waitFor();
  await eventually(() => reader.input.isEnabled(), true);
});

test('of a long conversation the newest fifty messages come back, oldest first', async () => {
  const reader = await visit();
  await reader.open();
  await reader.page.evaluate(async () => {
    const [session_id, secret] = [localStorage.getItem('lutrin:session'), localStorage.getItem('lutrin:secret') ?? ''];
    for (let n = 1; n <= 30; n += 1) {
      const body = JSON.stringify({session_id, message: `Question ${n}`});
      await (await fetch('/chat', {method: 'POST', body, headers: {'X-Lutrin-Client': secret}})).text();
    }
  });
  await reader.page.reload();
  await reader.questions.nth(24).waitFor();
  expect(await reader.questions.count()).toBe(25);
  expect(await reader.questions.first().innerText()).toContain('Question 6');
  expect(await reader.questions.last().innerText()).toContain('Question 30');
  const messages = reader.widget.locator('.messages');
  await messages.evaluate((list) => list.scrollTo({top: 0}));
  const top = (): Promise<number | undefined> => reader.questions.getByText('Question 6', {exact: true}).boundingBox().then((box) => box?.y);
  const before = (await top()) ?? 0;
  await reader.button('Show older messages').click();
  await eventually(() => reader.questions.count(), 30);
  expect(await reader.questions.first().innerText()).toContain('Question 1');
  expect(Math.abs(((await top()) ?? 0) - before)).toBeLessThan(60); // the button above it is gone
  expect(await reader.button('Show older messages').count()).toBe(0);
});

test('two tabs of a browser are in step: what is asked in one is there in the other, and so is a new conversation', async () => {
  const reader = await visit();
  await reader.open();
  const other = await reader.context.newPage();
  await other.goto(reader.page.url());
  await other.locator('lutrin-chat .bubble').click();
  const there = other.locator('lutrin-chat .message.user');
  await reader.ask('What is a node?');
  await eventually(() => there.count(), 1);
  expect(await other.locator('lutrin-chat .from-book').innerText()).toContain('does one job');
  await reader.button('New conversation').click();
  await eventually(() => there.count(), 0);
  await other.locator('lutrin-chat textarea').fill('What is a topic?');
  await other.keyboard.press('Enter');
  await eventually(() => reader.questions.allInnerTexts(), ['What is a topic?']);
});

test('what a reader has unfolded stays so when another tab asks', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  await reader.button('The whole passage').click();
  const other = await reader.context.newPage();
  await other.goto(reader.page.url());
  await other.locator('lutrin-chat .bubble').click();
  await other.locator('lutrin-chat .message.user').waitFor();
  await other.locator('lutrin-chat textarea').fill('What is a topic?');
  await other.keyboard.press('Enter');
  await reader.finished.nth(1).waitFor();
  const folds = reader.widget.locator('.fold');
  expect(await folds.evaluateAll((all) => all.map((fold) => fold.getAttribute('aria-expanded')))).toEqual(['true', 'false']);
});

test('a tab that is told of a new conversation before it can read its name follows as soon as it can', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  const other = await reader.context.newPage();
  await other.goto(reader.page.url());
  await other.evaluate(async () => {
    new BroadcastChannel('lutrin').postMessage('another');
    await new Promise((resolve) => setTimeout(resolve, 200));
    localStorage.setItem('lutrin:session', 'another');
  });
  await eventually(() => reader.questions.count(), 0);
});

test('a session that the server does not know is simply empty', async () => {
  const reader = await visit();
  await reader.page.evaluate(() => localStorage.setItem('lutrin:session', crypto.randomUUID()));
  await reader.page.reload();
  await reader.open();
  await eventually(() => reader.input.isEnabled(), true);
  expect(await reader.widget.getByRole('alert').count()).toBe(0);
  await reader.ask('What is a node?');
});

test('a conversation that cannot be read is said, and can be tried again', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  server.down = true;
  await reader.page.reload();
  await reader.widget.getByRole('alert').waitFor();
  expect(await reader.widget.getByRole('alert').innerText()).toBe('Something went wrong. Please try again.');
  server.down = false;
  await reader.button('Try again').click();
  await reader.questions.waitFor();
});

test('what was typed but not sent survives a reload', async () => {
  const reader = await visit();
  await reader.open();
  await reader.input.fill('Half a quest');
  await reader.page.reload();
  await eventually(() => reader.input.inputValue(), 'Half a quest');
});

test('conversations are listed, the last one first; one can be opened and gone on with', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  await reader.button('New conversation').click();
  expect(await reader.widget.locator('.message').count()).toBe(0);
  await reader.ask('What is a topic?');
  await reader.button('Conversations').click();
  await reader.widget.locator('.conversations .open').first().waitFor();
  expect(await reader.widget.locator('.conversations .title').allInnerTexts()).toEqual(['What is a topic?', 'What is a node?']);
  await reader.widget.locator('.conversations .open').last().click();
  await reader.questions.waitFor();
  expect(await reader.questions.innerText()).toContain('What is a node?');
  await reader.ask('And then?');
  expect(server.asked[2]?.session_id).toBe(server.asked[0]?.session_id);
  expect(server.asked[1]?.session_id).not.toBe(server.asked[0]?.session_id);
});

test('a conversation can be renamed, exported in two forms, and deleted for good', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  await reader.button('Conversations').click();
  await reader.button('Rename').click();
  await reader.widget.locator('input[name=title]').fill('My nodes');
  await reader.page.keyboard.press('Enter');
  await eventually(() => reader.widget.locator('.conversations .title').allInnerTexts(), ['My nodes']);
  for (const [name, suffix] of [['Export as Markdown', '.md'], ['Export as JSON', '.json']] as const) {
    const [download] = await Promise.all([reader.page.waitForEvent('download'), reader.button(name).click()]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^conversation-\\d{4}-\\d{2}-\\d{2}\\${suffix}$`));
    expect(readFileSync(await download.path(), 'utf8')).toContain('A **node** is a process');
  }
  await reader.button('Delete').click();
  expect(await reader.widget.locator('.confirm').innerText()).toContain('Delete “My nodes” for good?');
  await reader.button('Cancel').click();
  await reader.button('Delete').click();
  await reader.button('Delete').click();
  await reader.widget.getByText('No conversations yet.').waitFor();
  await reader.button('Back to the conversation').click();
  expect(await reader.widget.locator('.message').count()).toBe(0);
  expect(server.messages()).toEqual([]);
});

test('another browser with the same session id sees nothing of it', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  const session = server.asked[0]?.session_id ?? '';
  const other = await visit();
  await other.page.evaluate((id) => localStorage.setItem('lutrin:session', id), session);
  await other.page.goto(base() + '/');
  await other.open();
  await eventually(() => other.input.isEnabled(), true);
  expect(await other.widget.locator('.message').count()).toBe(0);
  expect(server.secrets.size).toBe(2);
});

test('a browser whose storage the page has filled can ask all the same', async () => {
  const reader = await visit();
  await reader.page.evaluate(() => {
    localStorage.clear();
    for (const size of [100_000, 1000, 10, 1]) {
      for (let at = 0; at < 200_000; at += 1) {
        try {
          localStorage.setItem(`${size} ${at}`, 'x'.repeat(size));
        } catch {
          break;
        }
      }
    }
  });
  await reader.page.reload();
  await reader.open();
  await reader.ask('What is a node?');
  expect(await reader.answers.count()).toBe(1);
  expect(await reader.page.evaluate(() => localStorage.getItem('lutrin:session'))).toBe(null);
});
