/** Escapes a text for any place in HTML, including attributes in double quotes. */
const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

/** HTML that is already escaped. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type HtmlPart = string | number | Html | readonly Html[]

/** A template whose parts are escaped unless they are Html. */
export const html = (fixed: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html =>
  new Html(fixed.map((text, place) => text + written(parts[place] ?? '')).join(''))

function written(part: HtmlPart): string {
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('')
  return escapeHtml(String(part))
}

/** A name or an address that may break after its dots, slashes, commas and query separators, and nowhere else. */
export const breakable = (text: string): Html =>
  new Html(escapeHtml(text).replaceAll(/\.(?=[a-z{])|\/(?=[^/])|[?]|, |&amp;/g, mark => `${mark}<wbr>`))

/** Names separated by commas. */
export const named = (names: readonly string[], lang: 'en' | 'zh'): readonly Html[] =>
  names.map((name, at) => html`${at === 0 ? '' : lang === 'zh' ? '、' : ', '}<code>${name}</code>`)

export const table = (
  heads: readonly string[],
  rows: readonly (readonly HtmlPart[])[],
): Html => html`<div class="wide" tabindex="0"><table class="rows">
<thead><tr>${heads.map(head => html`<th>${head}</th>`)}</tr></thead>
<tbody>${rows.map(row => html`<tr>${row.map(cell => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`

/** Placeholder of the service's address, which the page's script replaces. */
const SERVICE = 'SERVICE_URL'
/** Placeholder of the caller's key. A key is never in a URL, since URLs are logged and passed on. */
const KEY = 'YOUR_API_KEY'

/** A call of an action: its path relative to the service's address, and its query. */
export type SampleCall = { readonly path: string; readonly query: Readonly<Record<string, string>> }

export type CodeSample = { readonly language: 'curl' | 'TypeScript' | 'Python'; readonly text: string }

/** The path with its query, encoded like a browser does. */
export function formatCallUrl({ path, query }: SampleCall): string {
  const text = new URLSearchParams(query).toString()
  return text === '' ? path : `${path}?${text}`
}

/** Programs that make a call and print `data`. `format` is the service's default, for a query without one. */
export const buildSamples = (call: SampleCall, format: 'envelope' | 'bare'): readonly CodeSample[] => [
  { language: 'curl', text: formatCurl(call) },
  { language: 'TypeScript', text: formatTypescript(call, format) },
  { language: 'Python', text: formatPython(call, format) },
]

export const formatCurl = (call: SampleCall): string => `curl -H 'X-API-Key: ${KEY}' '${SERVICE}${formatCallUrl(call)}'`

function formatTypescript({ path, query }: SampleCall, format: 'envelope' | 'bare'): string {
  const names = Object.entries(query).map(([name, text]) => `  ${name}: ${JSON.stringify(text)},\n`)
  const address = names.length === 0 ? `'${SERVICE}${path}'` : `\`${SERVICE}${path}?\${query}\``
  return `${names.length === 0 ? '' : `const query = new URLSearchParams({\n${names.join('')}})\n`}const response = await fetch(${address}, {
  headers: { 'X-API-Key': '${KEY}' },
})
const answer = await response.json()
if (!response.ok) throw new Error(answer.message)
console.log(${format === 'bare' ? 'answer' : 'answer.data'})
`
}

function formatPython({ path, query }: SampleCall, format: 'envelope' | 'bare'): string {
  const names = Object.entries(query).map(([name, text]) => `    ${JSON.stringify(name)}: ${JSON.stringify(text)},\n`)
  const isPlain = names.length === 0
  return `import json
${isPlain ? '' : 'from urllib.parse import urlencode\n'}from urllib.request import Request, urlopen

${isPlain ? '' : `query = urlencode({\n${names.join('')}})\n`}request = Request(
    "${SERVICE}${path}"${isPlain ? '' : ' + "?" + query'},
    headers={"X-API-Key": "${KEY}"},
)
with urlopen(request) as response:
    answer = json.load(response)
print(${format === 'bare' ? 'answer' : 'answer["data"]'})
`
}
