/** @jsxImportSource @kitajs/html */
import { shortened, visible } from '../format/visible.ts'
import { hrefTo, pathOfNft } from '../links.ts'
import type { Html, Visit } from '../page.ts'

type NftNameProps = {
  readonly visit: Pick<Visit, 'root' | 'home' | 'lang'>
  readonly collection: string
  readonly id: string
}

/**
 * The id of an NFT in its collection, with a link to its page. The collection is shown beside it, or is the
 * page's subject.
 */
export const NftName = ({ visit, collection, id }: NftNameProps): Html => (
  <a class="name nft" href={hrefTo(visit, pathOfNft(collection, id))}>
    <bdi safe>{`#${shortened(visible(id))}`}</bdi>
  </a>
)
