import type * as Preset from '@docusaurus/preset-classic';
import type {Config} from '@docusaurus/types';
import type {PluginOptions as LutrinOptions} from 'docusaurus-plugin-lutrin';
import {themes} from 'prism-react-renderer';
import rehypeKatex from 'rehype-katex';
import remarkMath from 'remark-math';

// The book stays in `corpus/`; this folder holds only what a site needs around it.
// Everything that the pages load is built from npm packages into `build/`: no remote font, script, style or counter.
const config: Config = {
  title: 'Physical AI & Humanoid Robotics',
  tagline: 'A short textbook for people who build robots',
  favicon: 'img/favicon.svg',
  url: process.env.SITE_URL ?? 'http://localhost:3000',
  baseUrl: process.env.SITE_BASE_URL ?? '/',
  trailingSlash: false,

  onBrokenLinks: 'throw',
  onBrokenAnchors: 'throw',
  onDuplicateRoutes: 'throw',

  i18n: {defaultLocale: 'en', locales: ['en']},

  markdown: {
    mermaid: true,
    hooks: {onBrokenMarkdownLinks: 'throw', onBrokenMarkdownImages: 'throw'},
  },
  themes: ['@docusaurus/theme-mermaid'],
  plugins: [
    // The optional layout engine of Mermaid is not installed; webpack looks for it even where its branch is never taken.
    () => ({
      name: 'without-mermaid-elk',
      configureWebpack: () => ({resolve: {alias: {'@mermaid-js/layout-elk': false}}}),
    }),
    [
      'docusaurus-plugin-lutrin',
      {
        api: process.env.REACT_APP_API_URL ?? 'http://127.0.0.1:7860',
        book: 'physical-ai-textbook',
        // A JSON list of the index's citations; where it is named, the build proves that each of them leads to a heading.
        citations: process.env.LUTRIN_CITATIONS,
      } satisfies LutrinOptions,
    ],
  ],

  presets: [
    [
      'classic',
      {
        docs: {
          path: '../../corpus/physical-ai',
          routeBasePath: 'docs',
          sidebarPath: './sidebars.ts',
          remarkPlugins: [remarkMath],
          rehypePlugins: [[rehypeKatex, {strict: 'error', throwOnError: true}]],
        },
        blog: false,
        sitemap: false,
        theme: {customCss: './src/css/custom.css'},
      } satisfies Preset.Options,
    ],
  ],

  themeConfig: {
    colorMode: {respectPrefersColorScheme: true},
    docs: {sidebar: {hideable: true, autoCollapseCategories: true}},
    navbar: {
      title: 'Physical AI & Humanoid Robotics',
      logo: {alt: '', src: 'img/favicon.svg'},
      items: [{type: 'docSidebar', sidebarId: 'book', label: 'Read', position: 'left'}],
    },
    footer: {
      style: 'dark',
      copyright: 'Physical AI & Humanoid Robotics, First Edition. The sample book of Lutrin, Apache-2.0.',
    },
    mermaid: {theme: {light: 'neutral', dark: 'dark'}},
    prism: {
      theme: themes.github,
      darkTheme: themes.vsDark,
      additionalLanguages: ['bash', 'cpp', 'python', 'yaml'],
    },
  } satisfies Preset.ThemeConfig,
};

export default config;
