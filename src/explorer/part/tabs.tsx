/** @jsxImportSource @kitajs/html */
import { hrefTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'

type TabsProps = {
  readonly visit: Visit
  /** The common subject of the lists. */
  readonly label: string
  readonly path: string
  /**
   * The lists of a page, in display order. The selected one is the list whose `query` is in the address, else
   * the first.
   */
  readonly tabs: readonly { readonly name: string; readonly query?: string }[]
}

/** Links between the lists of a page, one of which is shown. */
export const Tabs = ({ visit, label, path, tabs }: TabsProps): Html => {
  const selected = tabs.find(({ query }) => query !== undefined && visit.query.has(query)) ?? tabs[0]
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(tab => (
        <a
          href={hrefTo(visit, tab.query === undefined ? path : `${path}?${tab.query}=1`)}
          aria-current={tab === selected ? 'page' : undefined}
          safe
        >
          {tab.name}
        </a>
      ))}
    </nav>
  )
}
