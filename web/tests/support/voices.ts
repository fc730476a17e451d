/** Voices of a device that say nothing aloud, and what they were told to say. */

import type {Reader} from './browser.ts';

/** A device with these voices, which takes 150 ms for a sentence; the page is loaded anew. */
export async function withVoices(reader: Reader, voices: readonly {lang: string; localService: boolean}[]): Promise<void> {
  await reader.context.addInitScript((known) => {
    const told: string[] = [];
    class Utterance {
      onend?: () => void;
      constructor(readonly text: string) {}
    }
    const speech = {
      getVoices: () => known,
      addEventListener: () => undefined,
      cancel: () => undefined,
      speak: (utterance: Utterance) => {
        told.push(utterance.text);
        setTimeout(() => utterance.onend?.(), 150);
      },
    };
    Object.defineProperties(window, {speechSynthesis: {value: speech}, SpeechSynthesisUtterance: {value: Utterance}, told: {value: told}});
  }, voices);
  await reader.page.reload();
}

export const told = (reader: Reader): Promise<string[]> => reader.page.evaluate(() => [...(window as unknown as {told: string[]}).told]);
