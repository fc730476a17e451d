/** What an author can set, and where the rest comes from. */

export interface PluginOptions {
  /** Set by Docusaurus; the plugin is used once in a site. */
  id?: string;
  /** Address of the Lutrin server; without it the variable REACT_APP_API_URL of the build is taken. */
  api?: string;
  /** Slug of the book that is asked, where the server has several. */
  book?: string;
  /** JSON list of the index's citations, a file (from the site's folder) or an address: the build checks each of them. */
  citations?: string;
}

/** What the pages need to know. */
export interface ClientSettings {
  api: string;
  book: string;
}

const KNOWN = new Set(['id', 'api', 'book', 'citations']);

/**
 * Check an author's options.
 *
 * @throws Error where one is unknown, is no text, or the plugin is used twice.
 */
export function checkOptions(options: Record<string, unknown>): PluginOptions {
  for (const [name, value] of Object.entries(options)) {
    if (!KNOWN.has(name)) throw new Error(`docusaurus-plugin-lutrin: the option \`${name}\` is not known; it knows ${[...KNOWN].join(', ')}.`);
    if (value !== undefined && typeof value !== 'string') throw new Error(`docusaurus-plugin-lutrin: the option \`${name}\` must be a text.`);
  }
  if (options['id'] !== undefined && options['id'] !== 'default') {
    throw new Error('docusaurus-plugin-lutrin: one instance serves the whole site; leave out the option `id`.');
  }
  return options as PluginOptions;
}

/** The address that the pages get; empty where none is set, which the panel then says: it is never guessed. */
export function clientSettings(options: PluginOptions, environment: Record<string, string | undefined>): ClientSettings {
  return {api: (options.api ?? environment['REACT_APP_API_URL'] ?? '').trim(), book: options.book ?? ''};
}
