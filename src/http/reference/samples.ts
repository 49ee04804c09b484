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

/** A command line for a shell. */
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
