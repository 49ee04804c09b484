/** @jsxImportSource @kitajs/html */
import { hrefTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'

type TabsProps = {
  readonly visit: Visit
  /** What all of the lists are of. */
  readonly label: string
  readonly path: string
  /** The lists of a page in their order: the one that `query` asks for, the first where nothing does. */
  readonly tabs: readonly { readonly name: string; readonly query?: string }[]
}

/** Leads between the lists of which a page shows one. */
export const Tabs = ({ visit, label, path, tabs }: TabsProps): Html => {
  const asked = tabs.find(({ query }) => query !== undefined && visit.query.has(query)) ?? tabs[0]
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(tab => (
        <a
          href={hrefTo(visit, tab.query === undefined ? path : `${path}?${tab.query}=1`)}
          aria-current={tab === asked ? 'page' : undefined}
          safe
        >
          {tab.name}
        </a>
      ))}
    </nav>
  )
}
