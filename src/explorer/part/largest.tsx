/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'
import { Owner } from './name.tsx'
import { Share } from './share.tsx'

type LargestProps = {
  readonly visit: Visit
  /** Largest first. */
  readonly owners: readonly { readonly account: string; readonly amount: string }[]
  readonly whole: string
}

/** Maximum number of owners. */
const MOST = 5

/** The largest owners, with their shares of a whole. */
export const Largest = ({ visit, owners, whole }: LargestProps): Html => (
  <ol class="largest">
    {owners.slice(0, MOST).map(({ account, amount }) => (
      <li>
        <Owner visit={visit} id={account} />
        <Share part={amount} whole={whole} />
      </li>
    ))}
  </ol>
)
