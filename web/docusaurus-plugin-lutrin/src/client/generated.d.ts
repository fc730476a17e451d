declare module '@generated/docusaurus-plugin-lutrin/default/settings.json' {
  const settings: {api: string; book: string};
  export default settings;
}

declare module '@generated/docusaurus-plugin-lutrin/default/pages.json' {
  const pages: Record<string, string>;
  export default pages;
}

/** The built widget, copied here by the build of this package. */
declare module '!!./lutrin.js' {}
