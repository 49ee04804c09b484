/** @jsxImportSource @kitajs/html */
import type { Movement } from '../format/movements.ts'
import type { Html, Visit } from '../page.ts'
import { Amount } from './amount.tsx'
import { Name, Owner } from './name.tsx'
import { NftName } from './nft-name.tsx'
import { None } from './none.tsx'

/** Maximum number of movements that a row names. */
const NAMED = 2

type MovedProps = {
  readonly visit: Visit
  /** undefined: not known yet. */
  readonly movements: readonly Movement[] | undefined
}

/** The movements of a transaction in a row of a list: amount, sender and recipient, and the number of further ones. */
export const Moved = ({ visit, movements }: MovedProps): Html =>
  movements === undefined ? (
    <small safe>{visit.say({ en: 'not known yet', zh: '尚不可知' })}</small>
  ) : movements.length === 0 ? (
    <None />
  ) : (
    <span class="what">
      {movements.slice(0, NAMED).map(movement => (
        <span class="line">
          <What visit={visit} movement={movement} />{' '}
          {movement.from !== '' && <Owner visit={visit} id={movement.from} />}
          {' → '}
          {movement.to !== '' && <Owner visit={visit} id={movement.to} />}
        </span>
      ))}
      {movements.length > NAMED && <small safe>{`+${movements.length - NAMED}`}</small>}
    </span>
  )

type WhatProps = { readonly visit: Visit; readonly movement: Movement }

/** What moved: an amount of a token, or an NFT. */
export const What = ({ visit, movement }: WhatProps): Html =>
  'collection' in movement ? (
    <Nft visit={visit} collection={movement.collection} id={movement.nft} />
  ) : (
    <Amount visit={visit} value={movement.amount} token={movement.token} />
  )

type NftProps = { readonly visit: Visit; readonly collection: string; readonly id: string | undefined }

/** An NFT outside its collection's pages: the collection and the id, each with a link. */
export const Nft = ({ visit, collection, id }: NftProps): Html => (
  <span>
    <Name visit={visit} kind="nft" id={collection} />
    {id !== undefined && ' '}
    {id !== undefined && <NftName visit={visit} collection={collection} id={id} />}
  </span>
)
