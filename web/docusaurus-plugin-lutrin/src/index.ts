/** Puts Lutrin on every page of a Docusaurus 3 site. */

import path from 'node:path';
import type {LoadContext, Plugin} from '@docusaurus/types';
import {brokenCitations, readCitations} from './check';
import {checkOptions, clientSettings, type PluginOptions} from './options';
import {pagesOf, type Pages} from './pages';

export type {PluginOptions} from './options';

const NAME = 'docusaurus-plugin-lutrin';
const SHOWN = 20;

export default function pluginLutrin(context: LoadContext, options: PluginOptions): Plugin<undefined> {
  const settings = clientSettings(options, process.env);
  let pages: Pages = {};
  return {
    name: NAME,
    getClientModules: () => [path.join(__dirname, 'client', 'index.js'), path.join(__dirname, 'client', 'style.css')],
    async contentLoaded({actions}) {
      if (!settings.api) {
        console.warn(`${NAME}: no server is named. Set the option \`api\` or REACT_APP_API_URL; until then the panel says that something went wrong.`);
      }
      await actions.createData('settings.json', JSON.stringify(settings));
    },
    async allContentLoaded({allContent, actions}) {
      pages = pagesOf(allContent, context.siteDir);
      await actions.createData('pages.json', JSON.stringify(pages));
    },
    async postBuild({outDir, baseUrl}) {
      if (!options.citations) return;
      const citations = await readCitations(options.citations, context.siteDir);
      const broken = await brokenCitations(citations, pages, outDir, baseUrl);
      if (broken.length === 0) {
        console.log(`${NAME}: all ${citations.length} citations lead to a heading of the site.`);
        return;
      }
      const more = broken.length > SHOWN ? `\n  and ${broken.length - SHOWN} more` : '';
      throw new Error(`${NAME}: citations lead nowhere:\n  ${broken.slice(0, SHOWN).join('\n  ')}${more}`);
    },
  };
}

export function validateOptions({options}: {options: Record<string, unknown>}): PluginOptions {
  return {id: 'default', ...checkOptions(options)};
}
