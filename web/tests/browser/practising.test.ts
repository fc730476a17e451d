import {expect, test} from 'vitest';
import {axeFindings} from '../support/axe.ts';
import {eventually, harness} from '../support/harness.ts';

const {reader: visit} = harness();
const PHONE = {viewport: {width: 390, height: 760}};

test('cards come one by one, by keyboard or thumb, each again when it is due, and only this browser remembers', async () => {
  const reader = await visit('/study/lab/deck', PHONE);
  const {page} = reader;
  const shown = (): Promise<string[]> => page.locator('.front:visible').allInnerTexts();
  const again = (): Promise<string[]> => page.locator('.again a:visible').allInnerTexts();
  expect(await shown()).toEqual(['What is a node?', 'What is a topic?']);
  expect(await again()).toEqual(['About a node', 'About a topic', 'Next sitting']);
  await page.getByRole('button', {name: 'Practise these cards'}).click();
  expect(await shown()).toEqual(['What is a node?']);
  expect(await again()).toEqual([]);
  expect(await page.getByRole('button', {name: 'Again'}).isVisible()).toBe(false);
  await page.keyboard.press('Enter'); // the focus is on what opens the card
  await page.getByRole('button', {name: 'Again'}).waitFor();
  expect(await axeFindings(reader, 'main')).toEqual([]);
  await page.getByRole('button', {name: 'Again'}).click();
  expect(await shown()).toEqual(['What is a topic?']);
  await page.getByText('Show the answer').locator('visible=true').click();
  await page.getByRole('button', {name: 'Easy'}).click();
  expect(await shown()).toEqual(['What is a node?']);
  await page.getByText('Show the answer').locator('visible=true').click();
  await page.getByRole('button', {name: 'Easy'}).click();
  expect(await shown()).toEqual([]);
  expect(await again()).toEqual(['About a node', 'Next sitting']); // at the end, what was hard
  await eventually(() => page.locator('.practise [role=status]').innerText().then((text) => /^Done for now\. The next card comes in \d+ days?\.$/.test(text)), true);
  await page.reload();
  expect(await page.locator('.practise').innerText()).toContain('0 to repeat, 0 new');
  await page.getByRole('button', {name: 'Practise these cards'}).click();
  expect(await again()).toEqual(['Next sitting']);
  await page.getByRole('button', {name: 'Show all cards'}).click();
  expect(await again()).toHaveLength(3);
  expect(await shown()).toEqual(['What is a node?', 'What is a topic?']);
});
