/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import { hrefTo } from '../links.ts'
import { isWithin, LISTS } from '../lists.ts'
import type { Html } from '../page.ts'
import type { Frame } from './frame.ts'

/**
 * The breadcrumbs of a page about one thing: links from the home page down to the whole that contains it.
 * Other pages have none, since the header links to them.
 */
export const Crumbs = ({ frame }: { readonly frame: Frame }): Html => {
  const { say } = frame
  const around = partsAround(frame)
  if (around.length === 0) return ''
  return (
    <nav class="crumbs" aria-label={say({ en: 'Breadcrumbs', zh: '当前位置' })}>
      <ol>
        {[['/', say({ en: 'Home', zh: '首页' })] as const, ...around].map(([path, name]) => (
          <li>
            <a href={hrefTo(frame, path)} safe>
              {name}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  )
}

/** The whole that contains a thing, by the first path segment of both. */
const WHOLES = new Map<string, Text>([
  ['nft', { en: 'NFT collection', zh: '所属合集' }],
  ['account', { en: 'Account', zh: '账户' }],
  ['contract', { en: 'Contract', zh: '合约' }],
])

/** The list of a thing, and the collection of an NFT or the owner of a balance: their paths and names. */
const partsAround = ({ path, say }: Frame): readonly (readonly [string, string])[] => {
  const list = LISTS.find(([to]) => isWithin(to, path))
  // The segment is not decoded: on the page of a refusal it may not be valid text.
  const [, whole, kind = ''] = /^(\/([^/]+)\/[^/]+)\/[^/]+$/.exec(path) ?? []
  const name = WHOLES.get(kind)
  return [
    ...(list === undefined ? [] : [[list[0], say(list[1])] as const]),
    ...(whole === undefined || name === undefined ? [] : [[whole, say(name)] as const]),
  ]
}
