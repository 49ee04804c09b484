/** @jsxImportSource @kitajs/html */
import { hrefTo } from '../links.ts'
import type { Html } from '../page.ts'
import type { Shell } from './frame.ts'

/** A search for anything by its name, hash or number. */
export const SearchBox = ({ frame }: { readonly frame: Shell }): Html => {
  const { say, query, path } = frame
  const words = say({
    en: 'Account, token, contract, block or transaction',
    zh: '账户、代币、合约、区块或交易',
  })
  return (
    <search>
      <form class="search" action={hrefTo(frame, '/search')} method="get">
        <input
          type="search"
          name="text"
          value={path === '/search' ? (query.get('text') ?? '') : ''}
          placeholder={words}
          aria-label={words}
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          required
        />
        <button type="submit" safe>
          {say({ en: 'Search', zh: '搜索' })}
        </button>
      </form>
    </search>
  )
}
