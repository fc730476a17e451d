/** Which page of the site shows which file of the book. */

import path from 'node:path';

/** Of `@docusaurus/plugin-content-docs`, what is used here. */
export interface DocsContent {
  loadedVersions: readonly {
    contentPath: string;
    /** The version that readers see first. */
    isLast: boolean;
    docs: readonly {source: string; permalink: string}[];
  }[];
}

/** File name, relative to the docs folder, as ingestion has it too: page of the site. */
export type Pages = Record<string, string>;

const DOCS_PLUGIN = 'docusaurus-plugin-content-docs';

/**
 * Pages of all docs plugins of a site; of versioned docs the version that readers see first.
 *
 * @param allContent Content of all plugins, by name and id.
 * @param siteDir The site's folder, which `@site` stands for.
 */
export function pagesOf(allContent: Record<string, Record<string, unknown> | undefined>, siteDir: string): Pages {
  const pages: Pages = {};
  for (const content of Object.values(allContent[DOCS_PLUGIN] ?? {}) as DocsContent[]) {
    for (const {contentPath, isLast, docs} of content.loadedVersions) {
      if (!isLast) continue;
      for (const {source, permalink} of docs) {
        const file = path.resolve(siteDir, source.replace(/^@site\//, ''));
        pages[path.relative(contentPath, file).split(path.sep).join('/')] ??= permalink;
      }
    }
  }
  return pages;
}
