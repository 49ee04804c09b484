import type { Paged } from '#actions/list/paging.ts'
import type { Query } from '#actions/request/query.ts'
import { withoutSecrets } from '#failure/failure.ts'

/** Decides which parameters of a request its links repeat. */
type Repeated = {
  /** The names of parameters that the action reads. */
  readonly taken: ReadonlySet<string>
  /** Keys that came with the request. */
  readonly secrets: readonly string[]
}

/**
 * A parameter that the action does not read is left out when it is longer than this, or when it and those before it
 * together exceed the second limit, in characters. The header repeats them four times, and proxies accept a few thousand
 * characters of headers.
 */
const UNREAD_LETTERS = 128
const ALL_UNREAD_LETTERS = 512

/**
 * The `Link` header (RFC 8288) of a page: `first`, `prev`, `next` and `last` of the same request. The
 * references are only queries, so they are valid on every address of the interface and behind any path
 * prefix. The key is not in them. Beyond the end `prev` is the last page. Where rows are added and removed at
 * the front (`lastId`), `next` contains the id of the page's last row.
 */
export function linkHeader(query: Query, { page, size, total, lastId }: Paged, repeated: Repeated): string {
  if (total === undefined) return searchedLinks(query, lastId, repeated)
  const last = BigInt(Math.max(1, Math.ceil(total / size)))
  const pages = [
    ['first', 1n],
    ['prev', page > last ? last : page - 1n],
    ['next', page < last ? page + 1n : 0n],
    ['last', last],
  ] as const
  const pairs = selectRepeated(query, repeated)
  // The query before and after the page number, which keeps its position or comes at the end.
  let [ahead, behind, isBehind] = ['', '', false]
  for (const pair of pairs)
    if (isBehind) behind += `&${pairText(pair)}`
    else if (pair[0] === 'page') isBehind = true
    else ahead += `${pairText(pair)}&`
  const links: string[] = []
  for (const [relation, number] of pages) {
    if (number <= 0n) continue
    const text =
      relation === 'next' && lastId !== undefined ? behindText(pairs, lastId) : `${ahead}page=${number}${behind}`
    links.push(`<?${text}>; rel="${relation}"`)
  }
  return links.join(', ')
}

/** The links of a page of searched rows: the first page, and the page after the last row examined. */
function searchedLinks(query: Query, lastId: string | undefined, repeated: Repeated): string {
  const pairs = selectRepeated(query, repeated).filter(([name]) => name !== 'page')
  const first = pairs.filter(([name]) => name !== 'after')
  const next = lastId === undefined ? '' : `, <?${behindText(pairs, lastId)}>; rel="next"`
  return `<?${[...first, ['page', '1'] as const].map(pairText).join('&')}>; rel="first"${next}`
}

/** The query of the page after a row. */
const behindText = (pairs: Query, lastId: string): string =>
  [...pairs.filter(([name]) => name !== 'page' && name !== 'after'), ['after', lastId] as const].map(pairText).join('&')

/** All parameters that the action reads, and those of the others that are short enough and contain no key. */
function selectRepeated(query: Query, { taken, secrets }: Repeated): Query {
  let letters = 0
  return query.filter(pair => {
    if (pair[0] === 'page' || taken.has(pair[0])) return true
    if (!mayRepeat(pair, secrets)) return false
    letters += pairText(pair).length + 1
    return letters <= ALL_UNREAD_LETTERS
  })
}

/** The test is faster than encoding: most texts need no escapes. */
function pairText([name, value]: Query[number]): string {
  const text = `${name}=${value}`
  return /^[\w.-]*=[\w.-]*$/.test(text) ? text : `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
}

/**
 * Parameters that the action reads have been validated. Any other (cache busters, or anything with
 * compat=iostabc) may contain a key.
 */
function mayRepeat([name, value]: Query[number], secrets: readonly string[]): boolean {
  const text = `?${name}=${value}`
  if (text.length > UNREAD_LETTERS) return false
  const hidesKey = withoutSecrets(text) !== text || secrets.some(key => key !== '' && text.includes(key))
  return !hidesKey
}
