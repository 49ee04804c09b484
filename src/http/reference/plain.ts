import { type ApiAction, formatActionName } from '#actions/define.ts'
import { formatRoute } from '../openapi/action-operation.ts'
import { paragraphs } from './text.ts'

/** The logo of the pages: a lens over a chain of blocks. */
export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1b4fd6"/><circle cx="14" cy="14" r="7" fill="none" stroke="#fff" stroke-width="3"/><path d="m19 19 7 7" stroke="#fff" stroke-width="4" stroke-linecap="round"/></svg>
`

/** Crawlers may read the reference and the explorer. Calls need a key, and searches and streams have no end. */
export function formatRobots({
  basePath,
  isExplored,
  publicUrl,
}: {
  readonly basePath: string
  readonly isExplored: boolean
  readonly publicUrl?: string | undefined
}): string {
  const searches = ['/search', '/suggest'].flatMap(path => [path, `/zh${path}`])
  const closed = ['/api/', '/rpc/', ...(isExplored ? [...searches, '/live'] : [])]
  // A sitemap needs an absolute URL.
  const map = isExplored && publicUrl !== undefined ? ['', `Sitemap: ${publicUrl}sitemap.xml`] : []
  return ['User-agent: *', ...closed.map(path => `Disallow: ${basePath}${path}`), ...map, ''].join('\n')
}

/** The llms.txt: a description of the service for language models, with examples and links. Addresses are relative. */
export function formatLlms(actions: readonly ApiAction[]): string {
  const english = (name: 'intro' | 'requests' | 'answers' | 'numbers' | 'lists' | 'errors'): string =>
    paragraphs[name].map(({ en }) => en).join('\n')
  const entry = (action: ApiAction): string =>
    `- [${action.module} ${action.action}](docs/en#${formatActionName(action)}): GET ${formatRoute(action)}. ${action.title.en}. ${action.summary.en}`
  return `# iostlens

> ${english('intro').replaceAll('\n', '\n> ')}

Every call needs an API key in the header X-API-Key.

${english('requests')}

${english('answers')}

${english('numbers')}

${english('lists')}

${english('errors')}

## Documents

- [OpenAPI document](openapi.json): parameters and answers of every action
- [Reference](docs/en): every field, with forms, examples and guides
- [Reference in Chinese](docs/zh)

## Actions

${actions.map(entry).join('\n')}
`
}
