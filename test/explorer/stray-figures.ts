import { numbersIn, sumsOf } from './numbers.ts'
import type { ReadPage } from './read-page.ts'
import type { Explorer } from './served.ts'

/**
 * Figures of a page that are in none of the API calls that the page links to. Throws if a call is refused.
 * `path` is the path of the page.
 */
export async function strayFigures(
  explorer: Explorer,
  path: string,
  { links, values, derived }: Pick<ReadPage, 'links' | 'values' | 'derived'>,
): Promise<readonly string[]> {
  const calls = links
    .map(({ href }) => new URL(href, `http://127.0.0.1:8080${path}`))
    .filter(({ pathname, searchParams }) => pathname === '/api/' && !searchParams.has('format'))
  const answers: unknown[] = []
  for (const { pathname, search } of calls) {
    const response = await explorer.ask(`${pathname}${search}&numbers=string`)
    if (response.status !== 200) throw new Error(`${path}: ${search}: ${await response.text()}`)
    answers.push(((await response.json()) as { readonly data: unknown }).data)
  }
  const known = new Set([...answers.flatMap(numbersIn), ...sumsOf(answers), ...derived])
  return values.filter(value => !known.has(value))
}
